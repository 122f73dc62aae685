// The context over the model calls, full and sent, and below it what each call costs. A drag chooses a range, a
// click a call; arrows move the cursor and Enter chooses.
const PAD = { left: 52, right: 106, top: 20, gap: 30, bottom: 24 };  // on the right the thresholds are named
const COST = 0.3;  // of the height
const HIGHEST = 4;  // how many times as high as what was sent the picture is

function make(tag, attrs, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const told = size => size.toLocaleString('en-US');
const brief = size => size >= 1e6 ? `${+(size / 1e6).toFixed(2)}M` : size >= 1e3 ? `${+(size / 1e3).toFixed(1)}k` : String(size);
const money = sum => `$${sum >= 1 || !sum ? sum.toFixed(2) : sum.toFixed(4)}`;
const coin = sum => `$${+sum.toPrecision(2)}`;
const most = list => list.reduce((a, b) => Math.max(a, b), 0);

// About so many round steps from nothing to the most.
function steps(top, about) {
  const rough = top / about, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 2.5, 5, 10].find(by => by * power >= rough) * power;
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, at) => at * step);
}

function draw(state) {
  const { data, svg, plot, marks } = state, width = plot.clientWidth, height = data.height;
  if (!width || !data.full.length) return;
  const [a, b] = data.range, from = a - 1, to = b;  // places in the lists
  const full = data.full.slice(from, to), sent = data.sent.slice(from, to), count = to - from, right = width - PAD.right;
  const floor = data.cost ? height * (1 - COST) - PAD.gap : height - PAD.bottom;
  const step = (right - PAD.left) / count, x = at => PAD.left + (at - from + .5) * step;
  const peak = most(full), high = most(sent) || 1, near = data.thresholds.filter(each => each[1] < 1.6 * Math.max(high, peak));
  const tall = near.reduce((top, [, size]) => Math.max(top, size), high), top = Math.min(Math.max(peak, tall), HIGHEST * tall);
  const y = size => floor - size / top * (floor - PAD.top), parts = [];
  for (const size of steps(top, 4)) {
    parts.push(make('line', { class: size ? 'grid' : 'axis', x1: PAD.left, x2: right, y1: y(size), y2: y(size) }));
    parts.push(make('text', { x: PAD.left - 8, y: y(size) + 4, 'text-anchor': 'end' }, brief(size)));
  }
  for (const at of steps(count, Math.max(2, width / 110)).filter(Number.isInteger)) {
    const call = Math.max(a, a - 1 + at);
    if (call <= b) parts.push(make('text', { x: x(call - 1), y: height - 6, 'text-anchor': at ? 'middle' : 'start' }, at ? call : `call ${call}`));
  }
  const pieces = runs(data.windows, from, to);
  const inside = make('clipPath', { id: 'inside' });
  inside.append(make('rect', { x: PAD.left, y: PAD.top - 2, width: right - PAD.left + 2, height }));
  parts.push(inside);
  for (const [start, stop] of pieces) {
    const line = (sizes, cls) => make('path', { class: cls, d: sizes.slice(start - from, stop - from).map((size, at) => `${at ? 'L' : 'M'}${x(start + at).toFixed(1)},${y(size).toFixed(1)}`).join('') || 'M0,0', 'clip-path': 'url(#inside)' });
    const under = line(sent, 'area');
    under.setAttribute('d', `${under.getAttribute('d')}L${x(stop - 1)},${floor}L${x(start)},${floor}Z`);
    parts.push(under, line(full, 'history'), line(sent, 'line'));
    if (start > from) parts.push(make('line', { class: 'edge', x1: x(start) - step / 2, x2: x(start) - step / 2, y1: PAD.top, y2: height - PAD.bottom }));
  }
  if (peak > top) parts.push(make('text', { x: right, y: PAD.top + 8, 'text-anchor': 'end' }, `full history ↗ ${told(peak)}`));
  let under = height;  // the names of thresholds that lie close together are moved apart
  for (const [name, size, kind] of [...near].sort((p, q) => p[1] - q[1])) {
    parts.push(make('line', { class: kind, x1: PAD.left, x2: right, y1: y(size), y2: y(size) }));
    under = Math.min(y(size) + 4, under - 14);
    const text = make('text', { class: 'named', x: right + 8, y: under }, name);
    text.append(make('title', {}, `${told(Math.round(size))} tokens`));
    parts.push(text);
  }
  if (data.cost) parts.push(...bars(data, from, to, x, step, floor + PAD.gap, height - PAD.bottom, right));
  state.cursor = make('line', { class: 'here', x1: 0, x2: 0, y1: PAD.top, y2: height - PAD.bottom, visibility: 'hidden' });
  state.brush = make('rect', { class: 'brush', y: PAD.top, height: height - PAD.bottom - PAD.top, visibility: 'hidden' });
  svg.replaceChildren(...parts, state.brush, state.cursor);
  svg.setAttribute('height', height); svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  marks.replaceChildren(...data.marks.filter(mark => mark.call >= a && mark.call <= b).map(mark => button(state, mark, x(mark.call - 1), y(Math.min(top, mark.before)))));
  Object.assign(state, { x, step, from, to, width });
  plot.dataset.version = data.version;
}

// Neighbouring calls of one context window.
function runs(windows, from, to) {
  const found = [];
  for (let at = from; at < to; at++) {
    if (at === from || windows[at] !== windows[at - 1]) found.push([at, at + 1]);
    else found.at(-1)[1] = at + 1;
  }
  return found;
}

function bars(data, from, to, x, step, top, bottom, right) {
  const { read, fresh, output, spent } = data.cost, highest = Math.max(...[data.cost.top, 1e-12]);
  const y = sum => bottom - Math.min(1, sum / highest) * (bottom - top), half = Math.max(.5, step / 2 - (step > 5 ? 1 : 0)), parts = [];
  for (const sum of steps(highest, 2)) {
    parts.push(make('line', { class: sum ? 'grid' : 'axis', x1: PAD.left, x2: right, y1: y(sum), y2: y(sum) }));
    parts.push(make('text', { x: PAD.left - 8, y: y(sum) + 4, 'text-anchor': 'end' }, coin(sum)));
  }
  const base = read.map(() => 0);
  for (const [name, sums] of [['read', read], ['fresh', fresh], ['output', output]]) {
    let d = '';
    for (let at = from; at < to; at++) {
      if (sums[at]) d += `M${(x(at) - half).toFixed(1)},${y(base[at]).toFixed(1)}V${y(base[at] + sums[at]).toFixed(1)}h${(2 * half).toFixed(1)}V${y(base[at]).toFixed(1)}Z`;
      base[at] += sums[at];
    }
    if (d) parts.push(make('path', { class: name, d }));
  }
  let line = '';
  for (let at = from; at < to; at++) line += `${at > from ? 'L' : 'M'}${(x(at) - step / 2).toFixed(1)},${y(spent[at]).toFixed(1)}h${step.toFixed(1)}`;
  parts.push(make('path', { class: 'spentline', d: line }));
  return parts;
}

function button(state, mark, left, top) {
  const made = document.createElement('button');
  made.type = 'button'; made.className = mark.gains ? 'pass' : 'pass idle';
  made.style.left = `${left}px`; made.style.top = `${top}px`;
  made.dataset.pass = mark.number;
  made.setAttribute('aria-label', mark.tip);
  made.onpointerenter = made.onfocus = () => tell(state, mark.tip, left, top);
  made.onpointerleave = made.onblur = () => { state.tip.hidden = true; };
  made.onclick = () => state.send('call', mark.call);
  return made;
}

function tell(state, text, left, top) {
  const { tip, plot } = state;
  tip.textContent = text; tip.hidden = false;
  const room = plot.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, left + 14 > room ? left - tip.offsetWidth - 14 : left + 14)}px`;
  tip.style.top = `${Math.max(0, top - tip.offsetHeight / 2)}px`;
}

function point(state, at, top = 60) {
  const { data, cursor, x } = state, lines = [`call ${at + 1}`, `${told(data.full[at])} full history`, `${told(data.sent[at])} sent`];
  if (data.cost) {
    const { read, fresh, output, spent } = data.cost, sum = read[at] + fresh[at] + output[at];
    lines.push(`${money(sum)}; ${money(spent[at])} with full history`, `cached ${money(read[at])}, written ${money(fresh[at])}, output ${money(output[at])}`);
  }
  if (data.cold[at]) lines.push('the cache was cold');
  for (const [name, value] of [['x1', x(at)], ['x2', x(at)], ['visibility', 'visible']]) cursor.setAttribute(name, value);
  state.at = at;
  tell(state, lines.join('\n'), x(at), top);
}

function place(state, event) {
  const left = event.clientX - state.plot.getBoundingClientRect().left;
  return Math.max(state.from, Math.min(state.to - 1, state.from + Math.floor((left - PAD.left) / state.step)));
}

function move(state, event) {
  if (!state.width || event.target.closest('button')) return;
  const at = place(state, event);
  point(state, at, event.clientY - state.plot.getBoundingClientRect().top);
  if (state.start == null || at === state.start) return;
  state.dragged = true;
  const [a, b] = [Math.min(at, state.start), Math.max(at, state.start)];
  for (const [name, value] of [['x', state.x(a) - state.step / 2], ['width', (b - a + 1) * state.step], ['visibility', 'visible']]) state.brush.setAttribute(name, value);
}

function up(state, event) {
  if (state.start == null) return;
  const at = place(state, event), start = state.start;
  state.start = null;
  if (state.dragged && at !== start) state.send('range', [Math.min(at, start) + 1, Math.max(at, start) + 1]);
  else if (!state.dragged) state.send('call', at + 1);
  state.brush.setAttribute('visibility', 'hidden');
}

function key(state, event) {
  const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
  if (by) { event.preventDefault(); point(state, Math.max(state.from, Math.min(state.to - 1, (state.at ?? state.from - by) + by))); }
  else if (event.key === 'Enter' && state.at != null) state.send('call', state.at + 1);
  else if (event.key === 'Escape') state.send('range', []);
}

function legend(state) {
  const { data } = state, title = document.createElement('b'), [a, b] = data.range;
  title.textContent = 'Context over model calls';
  const items = [['full', 'full history'], ['sent', 'sent'], ['pass', data.marks.length ? 'pass' : data.idle]];
  if (data.cost) items.push(['read', 'cost: cached'], ['fresh', 'written'], ['output', 'output'], ['spent', 'full history']);
  const shown = items.filter(([, text]) => text).map(([name, text]) => {
    const item = document.createElement('span'), swatch = document.createElement('i');
    swatch.className = name; item.append(swatch, text);
    return item;
  });
  if (a > 1 || b < data.full.length) {
    const back = document.createElement('button');
    back.type = 'button'; back.textContent = `calls ${a}–${b}: show all`; back.onclick = () => state.send('range', []);
    shown.push(back);
  }
  state.legend.replaceChildren(title, ...shown);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const find = name => parentElement.querySelector(name), plot = find('.plot');
  const state = plot.__tune ??= { plot, svg: find('svg'), marks: find('.marks'), tip: find('.tip'), legend: find('.legend') };
  state.send = setTriggerValue;
  if (state.version === data.version) return;
  Object.assign(state, { version: data.version, data, at: null, start: null });
  state.tip.hidden = true;
  state.svg.setAttribute('aria-label', `Context over ${data.full.length} model calls: at most ${told(most(data.full))} tokens of full history, ${told(most(data.sent))} sent; ${data.marks.length} passes. Arrows move the cursor, Enter opens the call.`);
  legend(state);
  if (!state.watch) {
    const { svg } = state;
    state.watch = new ResizeObserver(() => draw(state)); state.watch.observe(plot);
    svg.onpointermove = event => move(state, event);
    svg.onpointerdown = event => { if (event.button === 0 && state.width) { state.start = place(state, event); state.dragged = false; svg.setPointerCapture(event.pointerId); } };
    svg.onpointerup = event => up(state, event);
    svg.onpointerleave = () => { if (state.start == null) { state.tip.hidden = true; state.cursor?.setAttribute('visibility', 'hidden'); } };
    svg.onkeydown = event => key(state, event);
  }
  draw(state);
}
