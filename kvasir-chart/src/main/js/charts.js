// Draws the charts of the dashboard and of the reports with Chart.js, which stands above in the same file.
//
// A chart is an object: an x and a y axis (label, kind, min, max, words), places on x (and a name for
// each, if any has one), series (name, colour, shape, values) and marks (direction, value, label). A live
// chart is small, so that it has no legend, and shows where values are missing.
// Dragging across a chart zooms in; a double click or the button below it zooms out again.
(() => {
  "use strict";

  const FORMATS = [3, 2, 1, 0].map((most) => new Intl.NumberFormat("en", { maximumFractionDigits: most }));
  const CLOCK_SECONDS = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
  ];
  const TICKS = 6;
  const DRAG_PIXELS_MIN = 6;

  const digits = (value) => FORMATS[[1, 10, 100].filter((least) => Math.abs(value) >= least).length].format(value);

  function seconds(value) {
    if (value < 120) return `${digits(value)} s`;
    return value < 7200 ? `${digits(value / 60)} min` : `${digits(value / 3600)} h`;
  }

  function micros(value) {
    if (value < 1000) return `${digits(value)} µs`;
    return value < 1e6 ? `${digits(value / 1000)} ms` : seconds(value / 1e6);
  }

  const TEXTS = {
    NUMBER: digits,
    SHARE: (value) => `${digits(100 * value)} %`,
    MICROS: micros,
    LOG_MICROS: micros,
    SECONDS: seconds,
    SECONDS_AGO: (value) => `${seconds(-value)} ago`,
  };

  function text(axis, value) {
    if (axis.kind === "WORDS") return axis.words[value] ?? "";
    if (axis.kind === "SECONDS_AGO" && value === 0) return "now";
    return value === 0 && axis.kind !== "SHARE" ? "0" : TEXTS[axis.kind](value);
  }

  /** Returns a colour of the page's style sheet, which knows light and dark. */
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** Returns the multiples of a round step between the two values. */
  function evenTicks(min, max, steps) {
    const rough = (max - min) / TICKS;
    const decade = 10 ** Math.floor(Math.log10(rough));
    const step = steps.find((each) => each >= rough) ?? [1, 2, 5, 10].find((each) => each * decade >= rough) * decade;
    const count = Math.floor(max / step) - Math.ceil(min / step) + 1;
    return Array.from({ length: count }, (_, i) => (Math.ceil(min / step) + i) * step);
  }

  /** Returns round values between the two; the wider the axis, the fewer of a decade. */
  function logTicks(min, max) {
    if (max < 3 * min) return evenTicks(min, max, []);
    const factors = max > 1e4 * min ? [1] : max > 30 * min ? [1, 3] : [1, 2, 5];
    const decades = Array.from({ length: Math.ceil(Math.log10(max)) + 1 }, (_, i) => 10 ** i);
    return decades.flatMap((decade) => factors.map((factor) => factor * decade));
  }

  /** Replaces the library's ticks where it does not know clocks, words, or how wide our labels are. */
  function chooseTicks(axis, { min, max, ticks }) {
    const chosen = {
      WORDS: () => axis.words.map((_, value) => value),
      SECONDS: () => evenTicks(min, max, max - min < 5 ? [] : CLOCK_SECONDS),
      SECONDS_AGO: () => evenTicks(min, max, CLOCK_SECONDS),
      LOG_MICROS: () => logTicks(min, max),
    }[axis.kind];
    if (!chosen) return ticks;
    return chosen().filter((value) => value >= min && value <= max).map((value) => ({ value: value + 0 }));
  }

  function scale(axis, limits) {
    return {
      ...limits,
      type: axis.kind === "LOG_MICROS" ? "logarithmic" : "linear",
      afterBuildTicks: (built) => {
        built.ticks = chooseTicks(axis, built);
      },
      border: { color: () => colour("quiet") },
      grid: { color: () => colour("rule") },
      ticks: {
        callback: (value) => text(axis, value),
        color: () => colour("quiet"),
        includeBounds: false,
        major: { enabled: false },
        maxRotation: 0,
        autoSkipPadding: 8,
        maxTicksLimit: TICKS + 2,
      },
      title: { display: axis.label !== "", text: axis.label, align: "end", color: () => colour("quiet") },
    };
  }

  function points(chart, series) {
    const leastX = chart.x.kind === "LOG_MICROS" ? 1 : -Infinity;
    return chart.places.map((x, i) => {
      const value = series.values[i];
      return { x: Math.max(leastX, x), y: Number.isFinite(value) ? value : null };
    });
  }

  /** Returns the radius of a point: a line shows its points where they are few, or stand alone. */
  function radius(shape, { dataset, dataIndex }) {
    if (shape === "DOTS") return 5;
    if (shape === "DOTTED_LINE") return 3;
    const there = (i) => (dataset.data[i]?.y ?? null) !== null;
    return there(dataIndex - 1) || there(dataIndex + 1) ? 0 : 2;
  }

  function dataset(chart, series, place) {
    const fills = { AREA: place === 0 ? "origin" : "-1", BAND: "-1" };
    const look = { AREA: "bf", BAND: "29" }[series.shape] ?? "";
    return {
      label: series.name,
      data: points(chart, series),
      borderColor: () => colour(series.colour),
      backgroundColor: () => colour(series.colour) + look,
      fill: fills[series.shape] ?? false,
      borderWidth: look === "" ? 2 : 0,
      showLine: series.shape !== "DOTS",
      spanGaps: !chart.isLive,
      pointRadius: (point) => (look === "" ? radius(series.shape, point) : 0),
      pointHoverRadius: 5,
    };
  }

  /** Draws the marks of the chart, and the range that is being dragged over. */
  function drawMarks(chart, { ctx, chartArea: area, scales }, dragged) {
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = colour("ink");
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "alphabetic";
    ctx.globalAlpha = 0.7;
    ctx.setLineDash([4, 3]);
    chart.marks.forEach(({ direction, value, label }, place) => {
      const upright = direction === "UPRIGHT";
      const at = (upright ? scales.x : scales.y).getPixelForValue(value);
      const [least, most] = upright ? [area.left, area.right] : [area.top, area.bottom];
      if (at < least || at > most) return;
      const isRight = upright && at > (area.left + area.right) / 2;
      ctx.textAlign = isRight ? "right" : "left";
      ctx.beginPath();
      if (upright) {
        ctx.moveTo(at, area.top);
        ctx.lineTo(at, area.bottom);
        ctx.fillText(label, at + (isRight ? -4 : 4), area.bottom - 8 - 13 * place);
      } else {
        ctx.moveTo(area.left, at);
        ctx.lineTo(area.right, at);
        ctx.fillText(label, area.left + 4, at < area.top + 14 ? at + 12 : at - 4);
      }
      ctx.stroke();
    });
    ctx.globalAlpha = 0.15;
    if (dragged) ctx.fillRect(dragged.from, area.top, dragged.to - dragged.from, area.bottom - area.top);
    ctx.restore();
  }

  function options(chart) {
    const isStacked = chart.series.some((series) => series.shape === "AREA");
    const { x, y } = chart;
    const hasNames = chart.names.length > 0;
    const title = (place) => `${x.label} ${text(x, chart.places[place])}`.trim();
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: hasNames ? { mode: "nearest", intersect: false } : { mode: "index", axis: "x", intersect: false },
      scales: {
        x: scale(x, { min: x.min, max: x.max }),
        y: { ...scale(y, { suggestedMin: y.min, suggestedMax: y.max }), stacked: isStacked },
      },
      plugins: {
        legend: {
          display: chart.series.length > 1 && !chart.isLive,
          position: "bottom",
          labels: { color: () => colour("quiet"), boxWidth: 12, boxHeight: 12, useBorderRadius: true, borderRadius: 3 },
        },
        tooltip: {
          backgroundColor: () => colour("ink"),
          titleColor: () => colour("paper"),
          bodyColor: () => colour("paper"),
          // Several series may have the same named point.
          filter: (item, at, items) =>
            !hasNames || items.findIndex(({ dataIndex }) => dataIndex === item.dataIndex) === at,
          callbacks: {
            title: (items) => (hasNames || items.length === 0 ? "" : title(items[0].dataIndex)),
            label: ({ dataset, dataIndex, raw }) => (hasNames
              ? `${chart.names[dataIndex]}: ${text(x, raw.x)} ${x.label}, ${text(y, raw.y)} ${y.label}`
              : `${dataset.label}: ${text(y, raw.y)}`),
          },
        },
      },
    };
  }

  /** Lets a drag across the canvas choose the range of x; the listener is called while it is chosen. */
  function makeZoomable(drawn, button, dragging) {
    const canvas = drawn.canvas;
    const { min, max } = drawn.options.scales.x;
    let from = null;

    function show(range) {
      Object.assign(drawn.options.scales.x, range);
      button.hidden = range.min === min && range.max === max;
      drawn.update("none");
    }

    const within = (event) => Math.min(Math.max(event.offsetX, drawn.chartArea.left), drawn.chartArea.right);
    canvas.addEventListener("pointerdown", (event) => {
      from = within(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (from !== null) dragging({ from, to: within(event) });
    });
    canvas.addEventListener("pointerup", (event) => {
      const [left, right] = [from ?? 0, within(event)].toSorted((a, b) => a - b);
      const wasDragged = from !== null && right - left >= DRAG_PIXELS_MIN;
      from = null;
      dragging(null);
      const { x } = drawn.scales;
      if (wasDragged) show({ min: x.getValueForPixel(left), max: x.getValueForPixel(right) });
    });
    canvas.addEventListener("pointercancel", () => {
      from = null;
      dragging(null);
    });
    canvas.addEventListener("dblclick", () => show({ min, max }));
    button.addEventListener("click", () => show({ min, max }));
  }

  /** Draws the chart into the element, and returns a function that puts other values into its place. */
  globalThis.drawChart = (element, chart) => {
    const canvas = element.appendChild(document.createElement("canvas"));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "Show the whole range";
    button.hidden = true;
    element.after(button);
    let dragged = null;
    const drawn = new Chart(canvas, {
      type: "line",
      data: { datasets: chart.series.map((series, place) => dataset(chart, series, place)) },
      options: options(chart),
      plugins: [{ id: "marks", afterDatasetsDraw: (it) => drawMarks(chart, it, dragged) }],
    });
    makeZoomable(drawn, button, (range) => {
      dragged = range;
      drawn.draw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.update("none"));
    return (next) => {
      chart.places = next.places;
      next.series.forEach((series, place) => (drawn.data.datasets[place].data = points(chart, series)));
      drawn.update("none");
    };
  };

  for (const data of document.querySelectorAll("figure > script[type='application/json']")) {
    drawChart(data.parentElement.querySelector(".plot"), JSON.parse(data.textContent));
  }
})();
