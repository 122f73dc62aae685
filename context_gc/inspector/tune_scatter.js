// Cost against recall: each point is a policy. A click, or Enter, loads it into the controls.
const PAD = { left: 56, right: 20, top: 14, bottom: 40 }, HEIGHT = 330;
const SHAPES = { good: 'circle', bad: 'circle', baseline: 'diamond', best: 'star' };
const WORDS = { best: 'recommended', good: 'meets every condition', bad: 'misses one', baseline: 'baseline' };

function make(tag, attrs, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function shape(kind, x, y, size, edge) {
  if (edge) return make('path', { d: `M${x - size},${y + size * .8}L${x},${y - size}L${x + size},${y + size * .8}Z`, transform: `rotate(${edge} ${x} ${y})` });
  if (SHAPES[kind] === 'circle') return make('circle', { cx: x, cy: y, r: size });
  if (SHAPES[kind] === 'diamond') return make('path', { d: `M${x},${y - size * 1.2}l${size * 1.2},${size * 1.2}l${-size * 1.2},${size * 1.2}l${-size * 1.2},${-size * 1.2}Z` });
  const corners = Array.from({ length: 10 }, (_, at) => {
    const turn = Math.PI * (at / 5 - .5), by = size * (at % 2 ? .75 : 1.7);
    return `${(x + by * Math.cos(turn)).toFixed(1)},${(y + by * Math.sin(turn)).toFixed(1)}`;
  });
  return make('path', { d: `M${corners.join('L')}Z` });
}

// The picture holds the policies; baselines that lie beyond stand at its edge.
function scale(values, least) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity), spread = Math.max(high - low, least);
  const rough = spread / 5, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find(by => by * power >= rough * .999) * power;
  const from = Math.floor(low / step + 1e-9 - .2) * step, to = Math.ceil(high / step - 1e-9 + .2) * step;
  return { from, to, ticks: Array.from({ length: Math.round((to - from) / step) + 1 }, (_, at) => from + at * step) };
}

const told = (share, step) => `${(100 * share).toFixed(step < .001 ? 2 : step < .01 ? 1 : 0)} %`;

function draw(state) {
  const { data, svg, plot } = state, width = plot.clientWidth;
  if (!width || !data.points.length) return;
  const near = data.points.filter(point => point.kind !== 'baseline' || point.inside);
  const across = scale(near.map(point => point.x), .02), up = scale([...near.map(point => point.y), data.least], .002);
  up.to = Math.min(up.to, 1 + (up.ticks[1] - up.ticks[0]) * .5);
  const x = value => PAD.left + (value - across.from) / (across.to - across.from) * (width - PAD.left - PAD.right);
  const y = value => HEIGHT - PAD.bottom - (value - up.from) / (up.to - up.from) * (HEIGHT - PAD.top - PAD.bottom);
  const parts = [], right = width - PAD.right, bottom = HEIGHT - PAD.bottom;
  for (const tick of up.ticks.filter(tick => tick <= up.to + 1e-9)) {
    parts.push(make('line', { class: 'grid', x1: PAD.left, x2: right, y1: y(tick), y2: y(tick) }));
    parts.push(make('text', { x: PAD.left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, told(tick, up.ticks[1] - up.ticks[0])));
  }
  for (const tick of across.ticks) {
    parts.push(make('line', { class: 'grid', x1: x(tick), x2: x(tick), y1: PAD.top, y2: bottom }));
    parts.push(make('text', { x: x(tick), y: bottom + 17, 'text-anchor': 'middle' }, told(tick, across.ticks[1] - across.ticks[0])));
  }
  parts.push(make('text', { x: (PAD.left + right) / 2, y: HEIGHT - 5, 'text-anchor': 'middle' }, 'cost of the prompts, relative to full history'));
  parts.push(make('line', { class: 'least', x1: PAD.left, x2: right, y1: y(data.least), y2: y(data.least) }));
  parts.push(make('text', { x: right, y: y(data.least) + 14, 'text-anchor': 'end' }, `${data.measure} ≥ ${told(data.least, .001)}`));
  const order = { bad: 0, baseline: 1, good: 2, best: 3 };
  for (const point of [...data.points].sort((a, b) => order[a.kind] - order[b.kind])) {
    const left = Math.min(right - 6, Math.max(PAD.left + 6, x(point.x))), top = Math.max(PAD.top + 2, Math.min(bottom - 6, y(point.y)));
    const edge = x(point.x) > right + 1 ? 90 : y(point.y) > bottom + 1 ? 180 : x(point.x) < PAD.left - 1 ? 270 : 0;
    const dot = shape(point.kind, left, top, 5, edge), text = point.tip + (point.more ? `\nand ${point.more} more with the same cost and recall` : '') + (edge ? '\n(beyond the picture)' : '');
    dot.setAttribute('class', `point ${point.kind}${point.loads ? '' : ' fixed'}`);
    dot.setAttribute('tabindex', '0'); dot.setAttribute('role', 'button'); dot.setAttribute('aria-label', text);
    dot.dataset.at = point.at;
    dot.onpointerenter = dot.onfocus = () => tell(state, text + (point.loads ? '\nclick: load it into the controls' : ''), left, top);
    dot.onpointerleave = dot.onblur = () => { state.tip.hidden = true; };
    dot.onclick = () => { if (point.loads) state.send('pick', point.at); };
    dot.onkeydown = event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); dot.onclick(); } };
    if (point.chosen) parts.push(make('circle', { class: 'chosen', cx: left, cy: top, r: 12 }));
    parts.push(dot);
  }
  svg.replaceChildren(...parts);
  svg.setAttribute('height', HEIGHT); svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
}

function tell(state, text, left, top) {
  const { tip, plot } = state;
  tip.textContent = text; tip.hidden = false;
  const room = plot.clientWidth - tip.offsetWidth;
  tip.style.left = `${Math.max(0, left + 16 > room ? left - tip.offsetWidth - 16 : left + 16)}px`;
  tip.style.top = `${Math.max(0, top - tip.offsetHeight / 2)}px`;
}

function legend(state) {
  const kinds = ['best', 'good', 'bad', 'baseline'].filter(kind => state.data.points.some(point => point.kind === kind));
  const items = kinds.map(kind => {
    const item = document.createElement('span'), mark = make('svg', { viewBox: '0 0 14 14' }), dot = shape(kind, 7, 7, 5, 0);
    dot.setAttribute('class', kind); mark.append(dot); item.append(mark, WORDS[kind]);
    return item;
  });
  if (state.data.points.some(point => point.chosen)) {
    const item = document.createElement('span'), mark = make('svg', { viewBox: '0 0 14 14' });
    mark.append(make('circle', { class: 'chosen', cx: 7, cy: 7, r: 6 })); item.append(mark, 'in the controls');
    items.push(item);
  }
  state.legend.replaceChildren(...items);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const find = name => parentElement.querySelector(name), plot = find('.plot');
  const state = plot.__scatter ??= { plot, svg: plot.querySelector('svg'), tip: find('.tip'), legend: find('.legend') };
  state.send = setTriggerValue;
  const version = JSON.stringify(data);
  if (state.version === version) return;
  Object.assign(state, { version, data });
  state.tip.hidden = true;
  state.svg.setAttribute('aria-label', `Cost against ${data.measure} of ${data.points.length} policies`);
  legend(state);
  if (!state.watch) { state.watch = new ResizeObserver(() => draw(state)); state.watch.observe(plot); }
  draw(state);
}
