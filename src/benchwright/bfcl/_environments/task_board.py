"""A board of tasks with people and due dates."""

from __future__ import annotations

from typing import Any


class TaskBoard:
    """Tasks that can be added, assigned, moved and searched."""

    def __init__(self) -> None:
        self.tasks: dict[int, dict[str, Any]] = {}
        self.next_id = 1
        self.people: list[str] = []

    def _load_scenario(self, config: dict[str, Any], long_context: bool = False) -> None:
        self.people = list(config.get("people", []))
        for task in config.get("tasks", []):
            self._add(task["title"], task.get("due"), task.get("assignee"), task.get("column", "todo"))
        if long_context:  # finished tasks that no row asks about
            for number in range(1, 201):
                self._add(f"Archived task {number}", None, None, "done")

    def _add(self, title: str, due: str | None, assignee: str | None, column: str) -> dict[str, Any]:
        task = {"id": self.next_id, "title": title, "due": due, "assignee": assignee, "column": column}
        self.tasks[self.next_id] = task
        self.next_id += 1
        return task

    def add_task(self, title: str, due: str | None = None) -> dict[str, Any]:
        """Put a new task into the column todo."""
        if not title.strip():
            return {"error": "a task needs a title"}
        return {"task": dict(self._add(title, due, None, "todo"))}

    def assign_task(self, task_id: int, person: str) -> dict[str, Any]:
        """Give a task to a person."""
        if task_id not in self.tasks:
            return {"error": f"there is no task {task_id}"}
        if person not in self.people:
            return {"error": f"{person} is not on the board"}
        self.tasks[task_id]["assignee"] = person
        return {"task": dict(self.tasks[task_id])}

    def move_task(self, task_id: int, column: str) -> dict[str, Any]:
        """Move a task to todo, doing or done."""
        if task_id not in self.tasks:
            return {"error": f"there is no task {task_id}"}
        if column not in ("todo", "doing", "done"):
            return {"error": f"there is no column {column}"}
        self.tasks[task_id]["column"] = column
        return {"task": dict(self.tasks[task_id])}

    def find_tasks(
        self, text: str = "", column: str | None = None, assignee: str | None = None
    ) -> dict[str, Any]:
        """Tasks whose titles hold a text, in a column, of a person."""
        found = [
            dict(task)
            for task in self.tasks.values()
            if text.lower() in task["title"].lower()
            and column in (None, task["column"])
            and assignee in (None, task["assignee"])
        ]
        return {"tasks": found}

    def list_people(self) -> dict[str, Any]:
        """Everybody on the board."""
        return {"people": list(self.people)}
