// The event graph: keeps one vis network alive over Streamlit's reruns and applies changes of the data to it.
// Text of the trace arrives as labels (drawn on a canvas) and titles (set as text); nothing becomes HTML.
const ready = new Promise((done, fail) => {
  let tries = 0;
  const look = () => globalThis.vis ? done() : ++tries > 1000 ? fail(new Error('vis-network is missing')) : setTimeout(look, 10);
  look();
});
await ready;
const graphs = (globalThis.__contextGraphs ??= {});
const wanted = (globalThis.__contextWanted ??= {});

// -- looks ------------------------------------------------------------------------------------------

function theme(host) {
  const probe = document.createElement('i');
  probe.style.color = 'var(--st-background-color)';
  host.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return (r * 299 + g * 587 + b * 114) / 1000 < 128 ? 'dark' : 'light';
}

function dress(state, node) {
  const look = state.data.looks[state.theme][node.look];
  return { ...node, color: { background: look.fill, border: look.border }, borderWidth: look.width,
    font: { size: 12, color: look.text, face: state.face }, shapeProperties: { borderDashes: look.dashes ?? false, borderRadius: look.radius } };
}

function dressEdge(state, edge) {
  const look = state.data.lines[state.theme][edge.kind];
  return { ...edge, color: { color: look.color, opacity: look.opacity }, width: look.width, arrows: { to: { enabled: look.arrow, scaleFactor: .55 } },
    smooth: look.curved ? { enabled: true, type: 'curvedCW', roundness: .18 } : false, dashes: look.dotted ? [2, 4] : false };
}

// -- what is drawn beside nodes and edges -----------------------------------------------------------

function beneath(state, ctx) {
  const { net, data } = state, colors = data.colors[state.theme];
  const top = net.DOMtoCanvas({ x: 0, y: 0 }), end = net.DOMtoCanvas({ x: state.host.clientWidth, y: state.host.clientHeight });
  const scale = net.getScale(), px = 1 / scale;
  for (const { from, to, caption } of data.regions) {
    if (to + 80 < top.x || from - 80 > end.x) continue;
    ctx.fillStyle = colors.abandons; ctx.globalAlpha = .09;
    ctx.fillRect(from - 66, top.y, to - from + 132, end.y - top.y);
    ctx.globalAlpha = 1; ctx.font = `italic ${11 * px}px ${state.face}`; ctx.textAlign = 'left'; ctx.textBaseline = 'top';
    ctx.fillText(caption, Math.max(from - 60, top.x + 70 * px), top.y + 21 * px);  // below the turns
  }
  ctx.strokeStyle = colors.line; ctx.globalAlpha = .3; ctx.lineWidth = px;
  ctx.font = `${11 * px}px ${state.face}`; ctx.textBaseline = 'top'; ctx.textAlign = 'left';
  let free = -Infinity;
  for (const [number, at] of data.turns) {
    const x = at - 64;
    if (x < top.x - 200 * px || x > end.x) continue;
    if (x * scale < free - 46) continue;
    ctx.globalAlpha = .3; ctx.beginPath(); ctx.moveTo(x, top.y); ctx.lineTo(x, end.y); ctx.stroke();
    if (x * scale < free) continue;
    free = x * scale + 52;
    ctx.globalAlpha = .85; ctx.fillStyle = colors.text; ctx.fillText(`turn ${number}`, x + 4 * px, top.y + 5 * px);
  }
  ctx.globalAlpha = 1;
}

function above(state, ctx) {
  const { net, data } = state, colors = data.colors[state.theme], px = 1 / net.getScale();
  const top = net.DOMtoCanvas({ x: 0, y: 0 }), end = net.DOMtoCanvas({ x: state.host.clientWidth, y: 0 });
  for (const [id, x, color] of state.clipped) if (x > top.x - 90 && x < end.x + 90) inner(ctx, net.getBoundingBox(id), color);
  for (const [id, x] of state.locked) if (x > top.x - 90 && x < end.x + 90) lock(ctx, net.getBoundingBox(id), colors);
  const box = state.selected != null && state.nodes.get(state.selected) ? net.getBoundingBox(state.selected) : null;
  if (box) {
    ctx.strokeStyle = colors.accent; ctx.lineWidth = Math.max(3, 3 * px); ctx.beginPath();
    const gap = 3 + ctx.lineWidth / 2;
    ctx.roundRect(box.left - gap, box.top - gap, box.right - box.left + 2 * gap, box.bottom - box.top + 2 * gap, 8); ctx.stroke();
  }
  watch(state);
  ctx.font = `600 ${11 * px}px ${state.face}`; ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
  const bottom = net.DOMtoCanvas({ x: 0, y: state.host.clientHeight }).y;
  ctx.globalAlpha = .9; ctx.fillStyle = colors.page; ctx.fillRect(top.x, top.y, 66 * px, bottom - top.y);
  ctx.globalAlpha = 1; ctx.fillStyle = colors.text;
  for (const [name, y] of data.lanes) ctx.fillText(name, top.x + 8 * px, y);
}

// A clipped event: a dashed border inside its own.
function inner(ctx, box, color) {
  ctx.strokeStyle = color; ctx.lineWidth = 1; ctx.setLineDash([4, 3]); ctx.beginPath();
  ctx.roundRect(box.left + 3, box.top + 3, box.right - box.left - 6, box.bottom - box.top - 6, 2); ctx.stroke();
  ctx.setLineDash([]);
}

function lock(ctx, box, colors) {
  const x = box.right - 5, y = box.top - 5;
  ctx.fillStyle = colors.page; ctx.strokeStyle = colors.text; ctx.lineWidth = 1.5;
  ctx.beginPath(); ctx.arc(x + 5, y + 3, 3, Math.PI, 0); ctx.stroke();
  ctx.fillStyle = colors.text; ctx.fillRect(x, y + 3, 10, 7.5);
}

// The marks and borders that are drawn now, in words.
function legend(line, data) {
  const used = new Set(data.nodes.map(node => node.look.split(' ').at(-1)));
  line.replaceChildren(...data.legend.filter(([status]) => used.has(status)).map(([status, mark, word, meaning]) => {
    const item = document.createElement('span'), swatch = document.createElement('i');
    swatch.className = status; swatch.textContent = mark; item.title = meaning;
    item.append(swatch, word);
    return item;
  }));
}

// -- state ------------------------------------------------------------------------------------------

// Only what is new or differs from what was drawn last: laying out a label costs the most.
function changed(state, drawn, items) {
  const known = (state.known ??= new Map());
  return items.filter(item => {
    const told = state.theme + JSON.stringify(item), same = drawn.get(item.id) && known.get(item.id) === told;
    known.set(item.id, told);
    return !same;
  });
}

function fill(state) {
  state.locked = state.data.nodes.filter(node => node.look.endsWith(' protected')).map(node => [node.id, node.x]);
  const looks = state.data.looks[state.theme];
  state.clipped = state.data.nodes.filter(node => node.look.endsWith(' clipped')).map(node => [node.id, node.x, looks[node.look].text]);
  const nodes = new Set(state.data.nodes.map(node => node.id)), edges = new Set(state.data.edges.map(edge => edge.id));
  state.edges.remove(state.edges.getIds().filter(id => !edges.has(id)));
  state.nodes.remove(state.nodes.getIds().filter(id => !nodes.has(id)));
  state.nodes.update(changed(state, state.nodes, state.data.nodes).map(node => dress(state, node)));
  state.edges.update(changed(state, state.edges, state.data.edges).map(edge => dressEdge(state, edge)));
  state.empty.style.display = nodes.size ? 'none' : 'flex';
  state.host.dataset.version = state.data.version;
}

// All lanes fit the height; the start is the selected event, else the first that is pruned, else the last.
function view(state) {
  const { data, host, net } = state;
  const ys = data.lanes.map(([, y]) => y), height = Math.max(...ys, 0) - Math.min(...ys, 0) + 110;
  const scale = Math.min(1.1, Math.max(.35, (host.clientHeight - 20) / height));
  const first = state.selected ?? (data.live?.tail ? data.order.at(-1) : null) ?? data.nodes.find(node => node.look.endsWith(' pruned'))?.id ?? data.order.at(-1);
  const at = state.nodes.get(first);
  const half = host.clientWidth / scale / 2, xs = data.nodes.map(node => node.x), right = Math.max(...xs, 0) + 90;
  let x = at ? at.x : 0;
  x = Math.max(Math.min(x, right - half), -150 / scale + half);
  net.moveTo({ position: { x, y: (Math.max(...ys, 0) + Math.min(...ys, 0)) / 2 }, scale });
}

// -- a file that grows ------------------------------------------------------------------------------

const EDGE = 90;  // from the last node to the right edge, when the view stands at the end

function rightmost(state) {
  return state.data.nodes.reduce((found, node) => Math.max(found, node.x), 0) + EDGE;
}

function isAtEnd(state) {
  return state.net.DOMtoCanvas({ x: state.host.clientWidth, y: 0 }).x >= rightmost(state) - EDGE / 2;
}

// Tell Python when the view leaves the end or comes back to it: what is new is then counted, or gone to.
function watch(state) {
  if (!state.data.live || !state.fitted) return;
  clearTimeout(state.watching);
  state.watching = setTimeout(() => {
    const away = !isAtEnd(state);
    if (state.away !== away) { state.away = away; state.tell('away', away); }
  }, 200);
}

function toEnd(state) {
  const { net, host } = state, half = host.clientWidth / net.getScale() / 2;
  net.moveTo({ position: { x: Math.max(rightmost(state) - half, -150 / net.getScale() + half), y: net.getViewPosition().y } });
}

// Draw what is new: what the reader looks at stays where it is, or the view goes on with the end.
function grow(state, ended) {
  const view = state.net.getViewPosition(), old = state.nodes.get();
  const near = old.reduce((best, node) => Math.hypot(node.x - view.x, node.y - view.y) < best[1] ? [node, Math.hypot(node.x - view.x, node.y - view.y)] : best, [null, Infinity])[0];
  fill(state);
  const now = near && state.nodes.get(near.id);
  if (now && (now.x !== near.x || now.y !== near.y)) state.net.moveTo({ position: { x: view.x + now.x - near.x, y: view.y + now.y - near.y } });
  if (ended && state.data.live.tail && !isAtEnd(state)) toEnd(state);
}

function show(state, id) {
  const at = state.nodes.get(id);
  if (!at) return;
  const { x, y } = state.net.canvasToDOM({ x: at.x, y: at.y });
  const { clientWidth: w, clientHeight: h } = state.host;
  if (x < 110 || x > w - 70 || y < 25 || y > h - 25) {
    const now = state.net.getViewPosition();
    state.net.moveTo({ position: { x: at.x, y: y < 25 || y > h - 25 ? at.y : now.y } });
  }
}

function mark(state, id) {
  state.selected = id != null && state.nodes.get(id) ? id : null;
  if (state.selected != null) show(state, id);
  state.host.dataset.selected = state.selected ?? '';
  state.net.redraw();
}

function pick(state, id) {
  mark(state, id);
  state.live.textContent = id == null ? '' : state.nodes.get(id)?.title ?? '';
  state.send('picked', id);
}

function build(host, parts, data, send) {
  const state = { host, ...parts, data, send, nodes: new vis.DataSet(), edges: new vis.DataSet(), selected: null, locked: [], clipped: [], fitted: '' };
  state.theme = theme(host);
  state.face = getComputedStyle(host).fontFamily || 'sans-serif';
  fill(state);
  const net = state.net = new vis.Network(parts.canvas, { nodes: state.nodes, edges: state.edges }, data.options);
  host.__graph = state;
  net.on('beforeDrawing', ctx => beneath(state, ctx));
  net.on('afterDrawing', ctx => above(state, ctx));
  net.on('click', event => {
    if (event.nodes.length) pick(state, event.nodes[0] < 0 ? -1 - event.nodes[0] : event.nodes[0]);
    host.focus({ preventScroll: true });
  });
  parts.canvas.addEventListener('wheel', event => {
    event.preventDefault(); event.stopImmediatePropagation();
    const at = net.getViewPosition(), scale = net.getScale();
    if (event.ctrlKey || event.metaKey) zoom(state, Math.exp(-event.deltaY / 300), event);
    else net.moveTo({ position: { x: at.x + (event.deltaX + event.deltaY) / scale, y: at.y } });
  }, { passive: false, capture: true });
  host.addEventListener('keydown', event => keys(state, event));
  new ResizeObserver(() => {
    if (!host.clientWidth) return;
    net.setSize('100%', '100%'); net.redraw();
    if (state.fitted !== state.data.scope) { state.fitted = state.data.scope; mark(state, wanted[data.gid] ?? null); view(state); host.dataset.drawn = 'true'; }
  }).observe(host);
  return state;
}

function zoom(state, factor, event) {
  const { net, host } = state, box = host.getBoundingClientRect();
  const at = event ? net.DOMtoCanvas({ x: event.clientX - box.left, y: event.clientY - box.top }) : net.getViewPosition();
  const from = net.getScale(), to = Math.min(2.5, Math.max(.05, from * factor)), now = net.getViewPosition();
  net.moveTo({ scale: to, position: { x: at.x + (now.x - at.x) * from / to, y: at.y + (now.y - at.y) * from / to } });
}

function keys(state, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if ('+-0'.includes(event.key)) { event.preventDefault(); event.key === '0' ? view(state) : zoom(state, event.key === '+' ? 1.25 : .8); return; }
  const order = state.data.order, here = order.indexOf(state.selected), dead = 'np'.indexOf(event.key);
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined && dead < 0) return;
  event.preventDefault(); event.stopPropagation();
  if (dead >= 0) {
    const pruned = id => / (pruned|clipped)$/.test(state.nodes.get(id).look);
    const next = dead ? order.slice(0, Math.max(0, here)).reverse().find(pruned) : order.slice(here + 1).find(pruned);
    if (next !== undefined) pick(state, next);
  } else if (order.length) pick(state, order[Math.min(order.length - 1, Math.max(0, here + step))]);
}

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const host = parentElement.querySelector('.host'), find = name => parentElement.querySelector('.' + name);
  host.style.setProperty('--height', data.height + 'px');
  let state = graphs[data.gid];
  if (!state || state.host !== host) {
    state?.net.destroy();
    state = graphs[data.gid] = build(host, { canvas: find('canvas'), live: find('live'), empty: find('empty'), tell: setStateValue }, data, setTriggerValue);
    find('in').onclick = () => zoom(state, 1.25);
    find('out').onclick = () => zoom(state, .8);
    find('fit').onclick = () => { state.net.fit({ animation: false }); };
    find('read').onclick = () => view(state);
  }
  state.send = setTriggerValue; state.tell = setStateValue;
  legend(find('legend'), data);
  const now = theme(host), stale = state.data.version !== data.version || state.theme !== now;
  const grows = data.live && state.fitted === data.scope, ended = grows && isAtEnd(state), jumps = data.live && state.data.live && state.data.live.jump !== data.live.jump;
  state.data = data; state.theme = now;
  if (stale) grows ? grow(state, ended) : fill(state);
  if (jumps && grows) toEnd(state);
  if (state.fitted && state.fitted !== data.scope) { state.fitted = data.scope; mark(state, wanted[data.gid] ?? null); view(state); }
  return () => { if (!host.isConnected && graphs[data.gid] === state) { state.net.destroy(); delete graphs[data.gid]; } };
}
