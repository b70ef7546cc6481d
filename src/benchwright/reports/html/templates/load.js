for (const plot of document.querySelectorAll(".plot[data-hover]")) {
  const { along, points } = JSON.parse(plot.dataset.hover);
  const svg = plot.querySelector("svg"), tip = plot.querySelector(".tip"), guide = svg.querySelector(".guide");
  if (!points.length) continue;
  const hide = () => { tip.hidden = true; guide.setAttribute("hidden", ""); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const at = (along === "x" ? event.clientX - box.left : event.clientY - box.top) * scale;
    let nearest = points[0];
    for (const point of points) if (Math.abs(point[0] - at) < Math.abs(nearest[0] - at)) nearest = point;
    for (const end of ["1", "2"]) guide.setAttribute(along + end, nearest[0]);
    guide.removeAttribute("hidden");
    tip.textContent = nearest[1];
    tip.hidden = false;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const left = x + tip.offsetWidth + 18 < box.width ? x + 14 : Math.max(0, x - tip.offsetWidth - 14);
    tip.style.left = left + "px";
    tip.style.top = Math.max(0, Math.min(y + 12, box.height - tip.offsetHeight)) + "px";
  });
}
