// A plot over model calls, numbered through: one line for each series, the windows, the passes and cold caches.
// It is a slider: dragging, the wheel of a click and the keys of whoever holds it choose a call.
const EDGE = { left: 46, right: 12, top: 16, bottom: 20 };

function svgOf(tag, attrs, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const figure = (size) => size.toLocaleString('en-US');
const inShort = (size) => (size >= 1e6 ? `${size / 1e6}M` : size >= 1e3 ? `${size / 1e3}k` : String(size));

function roundSteps(most, about) {
  const rough = most / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((by) => by * power >= rough) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step).filter(Number.isInteger);
}

class Plot {
  /** `choose(call)` is called while a call is chosen by pointer. */
  constructor(host, choose) {
    Object.assign(this, { host, choose, svg: host.querySelector('svg'), tip: host.querySelector('.tip'), call: 1 });
    new ResizeObserver(() => this.draw()).observe(host);
    const move = (event) => { if (this.held) this.choose(this.at(event)); this.hover(event); };
    host.addEventListener('pointerdown', (event) => {
      if (event.button || !this.data) return;
      this.held = true;
      host.setPointerCapture(event.pointerId);
      this.choose(this.at(event));
    });
    host.addEventListener('pointermove', move);
    for (const name of ['pointerup', 'pointercancel']) host.addEventListener(name, () => { this.held = false; });
    host.addEventListener('pointerleave', () => { this.tip.hidden = true; });
  }

  /** data: {count, series: [{name, style, values}], windows: [first calls], marks: [{call, value, tip}], cold: [calls], tell} */
  show(data, call) {
    this.data = data;
    this.host.setAttribute('aria-valuemin', 1);
    this.host.setAttribute('aria-valuemax', data.count);
    this.draw();
    this.stand(call);
  }

  draw() {
    const { data, svg, host } = this, width = host.clientWidth, height = host.clientHeight;
    if (!data || !width) return;
    const most = data.series.reduce((top, each) => each.values.reduce((a, b) => Math.max(a, b), top), 1);
    this.x = (call) => EDGE.left + (data.count < 2 ? 0.5 : (call - 1) / (data.count - 1)) * (width - EDGE.left - EDGE.right);
    this.y = (size) => height - EDGE.bottom - (size / most) * (height - EDGE.top - EDGE.bottom);
    const { x, y } = this, parts = [], right = width - EDGE.right;
    for (const size of roundSteps(most, 3)) {
      parts.push(svgOf('line', { class: size ? 'grid' : 'axis', x1: EDGE.left, x2: right, y1: y(size), y2: y(size) }));
      parts.push(svgOf('text', { x: EDGE.left - 6, y: y(size) + 4, 'text-anchor': 'end' }, inShort(size)));
    }
    for (const at of roundSteps(data.count, Math.max(2, width / 130))) {
      if (at && at < data.count) parts.push(svgOf('text', { x: x(at), y: height - 5, 'text-anchor': 'middle' }, figure(at)));
    }
    const starts = new Set(data.windows);
    for (const [at, first] of data.windows.entries()) {
      if (!at) continue;
      const left = (x(first) + x(Math.max(1, first - 1))) / 2;
      parts.push(svgOf('line', { class: 'window', x1: left, x2: left, y1: 3, y2: height - EDGE.bottom }));
      const fits = left + 70 < width;
      const where = { x: fits ? left + 4 : left - 4, 'text-anchor': fits ? 'start' : 'end' };
      parts.push(svgOf('text', { class: 'named', y: 11, ...where }, `window ${at + 1}`));
    }
    for (const each of data.series) {
      const path = each.values.map((size, at) => `${at && !starts.has(at + 1) ? 'L' : 'M'}${x(at + 1).toFixed(1)},${y(size).toFixed(1)}`);
      parts.push(svgOf('path', { class: `line ${each.style}`, d: path.join('') }));
      if (data.count === 1) parts.push(svgOf('circle', { class: `dot ${each.style}`, cx: x(1), cy: y(each.values[0]), r: 4 }));
    }
    for (const call of data.cold ?? []) parts.push(svgOf('path', { class: 'cold', d: `M${x(call)},${height - EDGE.bottom}v7` }));
    for (const mark of data.marks) {
      const at = `${x(mark.call)},${y(mark.value) - 3}`;
      parts.push(svgOf('path', { class: `pass ${mark.style ?? ''}`, 'data-pass': mark.call, d: `M${at}l-5,-8h10z` }));
    }
    this.cursor = svgOf('line', { class: 'here', y1: 2, y2: height - EDGE.bottom });
    this.dot = svgOf('circle', { class: 'here', r: 4 });
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.replaceChildren(...parts, this.cursor, this.dot);
    this.stand(this.call);
  }

  stand(call) {
    this.call = call;
    if (!this.data) return;
    this.host.setAttribute('aria-valuenow', call);
    this.host.setAttribute('aria-valuetext', this.data.tell(call));
    if (!this.cursor) return;
    const left = this.x(call);
    this.cursor.setAttribute('x1', left);
    this.cursor.setAttribute('x2', left);
    this.dot.setAttribute('cx', left);
    this.dot.setAttribute('cy', this.y(this.data.series.at(-1).values[call - 1] ?? 0));
  }

  at(event) {
    const box = this.host.getBoundingClientRect(), room = box.width - EDGE.left - EDGE.right;
    const call = 1 + Math.round(((event.clientX - box.left - EDGE.left) / room) * (this.data.count - 1));
    return Math.max(1, Math.min(this.data.count, call));
  }

  hover(event) {
    if (!this.data || !this.x) return;
    const call = this.at(event), { tip, host } = this;
    tip.textContent = this.data.tell(call);
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(this.x(call) + 12, host.clientWidth - tip.offsetWidth))}px`;
  }
}
