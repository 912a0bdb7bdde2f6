// Draws the last five minutes: the median as a line, and what lies between it and p99 as a band.

import { seconds } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300;
const HEIGHT = 64;

export class Spark {
  constructor(figure) {
    this.svg = figure.querySelector("svg");
    this.output = figure.querySelector("output");
    this.band = this.path("band");
    this.line = this.path("line");
    this.cursor = this.path("cursor");
    this.still = this.output.textContent;
    this.most = "";
    this.reading = false;
    this.svg.addEventListener("pointermove", (event) => this.read(event));
    this.svg.addEventListener("pointerleave", () => this.leave());
  }

  path(name) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", name);
    this.svg.append(path);
    return path;
  }

  show(latency) {
    this.latency = latency;
    const slices = latency.slices;
    const step = WIDTH / Math.max(1, slices.length);
    const most = Math.max(...slices.map((slice) => slice.p99Seconds ?? 0), 1e-9);
    const y = (value) => (HEIGHT - 2 - (value / most) * (HEIGHT - 6)).toFixed(1);
    let line = "";
    let band = "";
    for (const run of runs(slices)) {
      const low = course(run, step, (i) => y(slices[i].p50Seconds));
      const high = course(run, step, (i) => y(slices[i].p99Seconds));
      line += `M${low.join("L")}`;
      band += `M${high.join("L")}L${low.toReversed().join("L")}Z`;
    }
    this.most = slices.some((slice) => slice.count > 0) ? `, up to ${seconds(most)}` : "";
    if (!this.reading) this.leave();
    this.line.setAttribute("d", line);
    this.band.setAttribute("d", band);
    const { count, p50Seconds } = latency.lastMinute;
    this.svg.setAttribute(
      "aria-label", count === 0 ? "none in the last minute" : `median ${seconds(p50Seconds)}`);
  }

  read(event) {
    if (!this.latency) return;
    this.reading = true;
    const { slices, sliceSeconds } = this.latency;
    const box = this.svg.getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * slices.length);
    const slice = slices[Math.min(Math.max(at, 0), slices.length - 1)];
    const ago = seconds((slices.length - at) * sliceSeconds);
    const x = ((at + 0.5) * WIDTH) / slices.length;
    this.cursor.setAttribute("d", `M${x} 0V${HEIGHT}`);
    this.output.textContent = slice.count === 0
      ? `${ago} ago: none`
      : `${ago} ago: median ${seconds(slice.p50Seconds)}, p99 ${seconds(slice.p99Seconds)}`;
  }

  leave() {
    this.reading = false;
    this.cursor.setAttribute("d", "");
    this.output.textContent = this.still + this.most;
  }
}

/** The points of a run: the middle of each slice, and both ends, so that a lonely one is seen. */
function course(run, step, y) {
  const first = run[0];
  const last = run[run.length - 1];
  return [
    `${first * step} ${y(first)}`,
    ...run.map((i) => `${(i + 0.5) * step} ${y(i)}`),
    `${(last + 1) * step} ${y(last)}`,
  ];
}

/** The indexes of slices that follow each other without a gap. */
function runs(slices) {
  const found = [];
  let run = null;
  slices.forEach((slice, i) => {
    if (slice.count === 0) {
      run = null;
      return;
    }
    if (run === null) found.push((run = []));
    run.push(i);
  });
  return found;
}
