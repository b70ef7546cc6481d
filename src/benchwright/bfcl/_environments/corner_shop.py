"""A shop with stock, a basket and an account."""

from __future__ import annotations

from typing import Any


class CornerShop:
    """Articles can be looked up, put into a basket and paid for."""

    def __init__(self) -> None:
        self.stock: dict[str, dict[str, Any]] = {}
        self.basket: dict[str, int] = {}
        self.balance = 0.0
        self.orders: list[dict[str, Any]] = []

    def _load_scenario(self, config: dict[str, Any], long_context: bool = False) -> None:
        self.stock = {name: dict(article) for name, article in config.get("stock", {}).items()}
        self.balance = float(config.get("balance", 0.0))
        if long_context:  # shelves that nobody asks about
            for number in range(1, 201):
                self.stock[f"spare part {number}"] = {"price": 1.0, "count": 5}

    def look_up(self, article: str) -> dict[str, Any]:
        """Price of an article, and how many there are."""
        if article not in self.stock:
            return {"error": f"no article {article}"}
        return {"article": article, **self.stock[article]}

    def add_to_basket(self, article: str, count: int = 1) -> dict[str, Any]:
        """Put articles into the basket."""
        if article not in self.stock:
            return {"error": f"no article {article}"}
        wanted = self.basket.get(article, 0) + count
        if count < 1 or wanted > self.stock[article]["count"]:
            return {"error": f"{self.stock[article]['count']} of {article} in stock"}
        self.basket[article] = wanted
        return {"basket": dict(self.basket)}

    def remove_from_basket(self, article: str) -> dict[str, Any]:
        """Take an article out of the basket."""
        if article not in self.basket:
            return {"error": f"{article} is not in the basket"}
        del self.basket[article]
        return {"basket": dict(self.basket)}

    def total(self) -> dict[str, Any]:
        """What the basket costs."""
        cost = sum(self.stock[article]["price"] * count for article, count in self.basket.items())
        return {"total": round(cost, 2)}

    def top_up(self, amount: float) -> dict[str, Any]:
        """Pay money into the account."""
        if amount <= 0:
            return {"error": "the amount must be above 0"}
        self.balance = round(self.balance + amount, 2)
        return {"balance": self.balance}

    def check_out(self) -> dict[str, Any]:
        """Pay for the basket from the account."""
        cost = self.total()["total"]
        if not self.basket:
            return {"error": "the basket is empty"}
        if cost > self.balance:
            return {"error": f"the basket costs {cost}, and the balance is {self.balance}"}
        for article, count in self.basket.items():
            self.stock[article]["count"] -= count
        self.balance = round(self.balance - cost, 2)
        self.orders.append({"articles": self.basket, "total": cost})
        self.basket = {}
        return {"order": len(self.orders), "total": cost, "balance": self.balance}
