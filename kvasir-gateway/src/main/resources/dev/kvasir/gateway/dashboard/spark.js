// Draws the last five minutes: the median as a line, and what lies between it and p99 as a band.

import "./charts.js";
import { seconds } from "./words.js";

export class Spark {
  constructor(figure, colour) {
    this.plot = figure.querySelector(".plot");
    this.output = figure.querySelector("output");
    this.still = this.output.textContent;
    this.colour = colour;
    this.update = null;
  }

  show({ slices, sliceSeconds, lastMinute: { count, p50Seconds } }) {
    const micros = (of) => slices.map((slice) => (slice.count > 0 ? of(slice) * 1e6 : null));
    const chart = {
      x: { label: "", kind: "SECONDS_AGO", min: -slices.length * sliceSeconds, max: 0 },
      y: { label: "", kind: "MICROS", min: 0 },
      places: slices.map((_, i) => (i + 0.5 - slices.length) * sliceSeconds),
      names: [],
      series: [
        { name: "median", colour: this.colour, shape: "LINE", values: micros((slice) => slice.p50Seconds) },
        { name: "p99", colour: this.colour, shape: "BAND", values: micros((slice) => slice.p99Seconds) },
      ],
      marks: [],
      isLive: true,
    };
    if (this.update === null) this.update = globalThis.drawChart(this.plot, chart);
    else this.update(chart);
    const most = Math.max(...slices.map((slice) => slice.p99Seconds ?? 0));
    this.output.textContent = this.still + (most > 0 ? `, up to ${seconds(most)}` : "");
    this.plot.setAttribute(
      "aria-label", count === 0 ? "none in the last minute" : `median ${seconds(p50Seconds)}`);
  }
}
