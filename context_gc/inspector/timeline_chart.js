// The timeline: what the full history and the prompt weigh after each turn, as SVG. Passes are buttons over it.
const HIGHEST = 4;  // how many times as high as what was sent the picture is; a longer history leaves it at the top
const PAD = { left: 46, right: 80, top: 20, bottom: 26 };  // on the right the thresholds are named

function make(tag, attrs, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const told = size => size.toLocaleString('en-US');
const brief = size => size >= 1e6 ? `${size / 1e6}M` : size >= 1e3 ? `${size / 1e3}k` : String(size);

// About so many round steps from nothing to the most.
function steps(most, about) {
  const rough = most / about, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 2.5, 5, 10].find(by => by * power >= rough) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step).filter(at => Number.isInteger(at));
}

function draw(state) {
  const { data, svg, plot, marks } = state, width = plot.clientWidth, height = data.height;
  if (!width || !data.full.length) return;
  const first = data.full[0][0], last = Math.max(first + 1, data.full.at(-1)[0]);
  const sizes = [...data.full, ...data.sent].map(([, size]) => size), peak = sizes.reduce((a, b) => Math.max(a, b), 1);
  const near = data.thresholds.filter(([, size]) => size < 1.6 * peak);
  const tall = near.reduce((a, [, size]) => Math.max(a, size), data.sent.reduce((a, [, size]) => Math.max(a, size), 1));
  const most = Math.min(Math.max(peak, tall), HIGHEST * tall), leaves = data.full.find(([, size]) => size > most);
  const x = turn => PAD.left + (turn - first) / (last - first) * (width - PAD.left - PAD.right);
  const y = size => height - PAD.bottom - size / most * (height - PAD.top - PAD.bottom);
  const path = points => points.map(([turn, size], at) => `${at ? 'L' : 'M'}${x(turn).toFixed(1)},${y(size).toFixed(1)}`).join('');
  const right = width - PAD.right, parts = [];
  for (const size of steps(most, 4)) {
    parts.push(make('line', { class: size ? 'grid' : 'axis', x1: PAD.left, x2: right, y1: y(size), y2: y(size) }));
    parts.push(make('text', { x: PAD.left - 8, y: y(size) + 4, 'text-anchor': 'end' }, brief(size)));
  }
  for (const at of steps(last - first, Math.max(2, width / 110))) {
    parts.push(make('text', { x: x(first + at), y: height - 9, 'text-anchor': at ? 'middle' : 'start' }, at ? first + at : `turn ${first}`));
  }
  const few = data.full.length < 3, end = data.sent.at(-1)[0], start = data.sent[0][0];
  parts.push(make('path', { class: 'area', d: `${path(data.sent)}L${x(end)},${y(0)}L${x(start)},${y(0)}Z` }));
  const inside = make('clipPath', { id: 'inside' });
  inside.append(make('rect', { x: PAD.left, y: PAD.top - 2, width: right - PAD.left + 2, height }));
  parts.push(inside, make('path', { class: 'history', d: path(data.full), 'clip-path': 'url(#inside)' }), make('path', { class: 'line', d: path(data.sent) }));
  if (leaves) {
    const near = x(leaves[0]) < (PAD.left + right) / 2, at = near ? { x: x(leaves[0]) + 8, 'text-anchor': 'start' } : { x: x(leaves[0]) - 8, 'text-anchor': 'end' };
    parts.push(make('text', { ...at, y: PAD.top + 8 }, `full history ↗ ${told(data.full.at(-1)[1])}`));
  }
  if (few) for (const [turn, size] of data.sent) parts.push(make('circle', { class: 'dot', cx: x(turn), cy: y(size), r: 4 }));
  for (const mark of data.marks) if (mark.gains) parts.push(make('line', { class: 'drop', x1: x(mark.turn), x2: x(mark.turn), y1: y(mark.before), y2: y(mark.after) }));
  let under = height;  // the names of thresholds that lie close together are moved apart
  for (const [name, size] of [...near].sort((a, b) => a[1] - b[1])) {
    parts.push(make('line', { class: 'threshold', x1: PAD.left, x2: right, y1: y(size), y2: y(size) }));
    under = Math.min(y(size) + 4, under - 14);
    const text = make('text', { class: 'named', x: right + 11, y: under }, name);
    text.append(make('title', {}, `${told(size)} tokens`));
    parts.push(text);
  }
  state.cursor = make('line', { class: 'here', x1: 0, x2: 0, y1: PAD.top, y2: height - PAD.bottom, visibility: 'hidden' });
  svg.replaceChildren(...parts, state.cursor);
  svg.setAttribute('height', height); svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  marks.replaceChildren(...data.marks.map(mark => button(state, mark, x(mark.turn), y(mark.before))));
  Object.assign(state, { x, y, first, last, width });
}

function button(state, mark, left, top) {
  const made = document.createElement('button');
  made.type = 'button'; made.className = mark.gains ? 'pass' : 'pass idle';
  made.style.left = `${left}px`; made.style.top = `${top}px`;
  made.dataset.pass = mark.number;
  made.setAttribute('aria-label', mark.tip);
  made.onpointerenter = made.onfocus = () => tell(state, mark.tip, left, top);
  made.onpointerleave = made.onblur = () => { state.tip.hidden = true; };
  made.onclick = () => { if (mark.gains) state.send('pass', mark.number); };
  return made;
}

function tell(state, text, left, top) {
  const { tip, plot } = state;
  tip.textContent = text; tip.hidden = false;
  const room = plot.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(left + 14, room))}px`;
  tip.style.top = `${Math.max(0, top - tip.offsetHeight - 18)}px`;
}

function follow(state, event) {
  const { data, plot, svg, x, first, last, width } = state, left = event.clientX - plot.getBoundingClientRect().left;
  if (!width || event.target.closest('button')) return;
  const turn = first + Math.round((left - PAD.left) / (width - PAD.left - PAD.right) * (last - first));
  const full = data.full.findLast(([at]) => at <= turn), sent = data.sent.findLast(([at]) => at <= turn);
  if (!full || !sent || turn > last) return;
  for (const [name, value] of [['x1', x(full[0])], ['x2', x(full[0])], ['visibility', 'visible']]) state.cursor.setAttribute(name, value);
  tell(state, `turn ${full[0]}\n${told(full[1])} full history\n${told(sent[1])} ${data.passes ? 'sent' : 'after pruning'}`, x(full[0]), event.clientY - svg.getBoundingClientRect().top + 40);
}

function legend(state) {
  const { data } = state, title = document.createElement('b');
  title.textContent = 'Context over turns';
  const items = [['full', 'full history'], ['sent', data.passes ? 'sent' : 'after pruning']];
  if (data.passes) items.push(['pass', data.marks.length ? 'pass' : 'no pass was due']);
  state.legend.replaceChildren(title, ...items.map(([name, text]) => {
    const item = document.createElement('span'), swatch = document.createElement('i');
    swatch.className = name; item.append(swatch, text);
    return item;
  }));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const find = name => parentElement.querySelector(name), plot = find('.plot');
  const state = plot.__timeline ??= { plot, svg: find('svg'), marks: find('.marks'), tip: find('.tip'), legend: find('.legend') };
  state.send = setTriggerValue;
  const version = JSON.stringify(data);
  if (state.version === version) return;
  Object.assign(state, { version, data });
  const most = data.full.at(-1)?.[1] ?? 0, after = data.sent.at(-1)?.[1] ?? 0;
  state.svg.setAttribute('aria-label', `Context over ${data.full.length} turns: the full history has ${told(most)} tokens at the end, the prompt ${told(after)}; ${data.marks.length} passes.`);
  legend(state);
  if (!state.watch) {
    state.watch = new ResizeObserver(() => draw(state)); state.watch.observe(plot);
    plot.onpointermove = event => follow(state, event);
    plot.onpointerleave = () => { state.tip.hidden = true; state.cursor?.setAttribute('visibility', 'hidden'); };
  }
  draw(state);
}
