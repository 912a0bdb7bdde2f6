// A pointer over a chart reads the nearest figures; without this the tables still hold them.
for (const svg of document.querySelectorAll("svg[data-x]")) {
  const places = svg.dataset.x.split(" ").map(Number);
  const texts = svg.dataset.text.split("\n");
  const cursor = svg.querySelector(".cursor");
  const output = svg.parentElement.querySelector("output");
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    let near = 0;
    for (let i = 1; i < places.length; i++) {
      if (Math.abs(places[i] - x) < Math.abs(places[near] - x)) near = i;
    }
    cursor.setAttribute("d", `M${places[near]} 14V192`);
    output.textContent = texts[near];
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("d", "");
    output.textContent = "";
  });
}
