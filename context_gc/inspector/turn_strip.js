// The strip: a bar of tokens for each turn, live below and dead hatched above; dragging chooses turns. Under a
// budget a band above the bars shows what was sent, the thresholds, and the passes as buttons.
const PAD = 4;

function draw(state) {
  const { canvas, data } = state, style = getComputedStyle(canvas), ctx = canvas.getContext('2d'), dpr = devicePixelRatio || 1;
  const w = canvas.clientWidth, h = canvas.clientHeight;
  if (!w) return;
  const band = data.band, room = h - band;
  canvas.width = w * dpr; canvas.height = h * dpr; ctx.scale(dpr, dpr);
  const color = name => style.getPropertyValue(name).trim();
  const text = color('--st-text-color'), accent = color('--st-primary-color');
  const bars = bins(data.turns, Math.floor((w - 2 * PAD) / 3));
  const step = (w - 2 * PAD) / Math.max(1, bars.length);
  const most = bars.reduce((found, bar) => Math.max(found, bar.live + bar.dead), 1);
  const top = value => (room - 4) * Math.sqrt(value / most);
  const [a, b] = state.drag ?? data.chosen;
  bars.forEach(({ from, to, live, dead }, i) => {
    const inside = to >= a && from <= b, here = from <= data.here && data.here <= to, x = PAD + i * step, width = Math.max(1, step - (step > 4 ? 1 : 0));
    const whole = top(live + dead), alive = whole * live / Math.max(1, live + dead);
    ctx.globalAlpha = inside ? .95 : .35;
    ctx.fillStyle = here ? accent : text;
    ctx.globalAlpha *= here ? 1 : .55;
    ctx.fillRect(x, h - alive, width, alive);
    if (dead) {
      ctx.globalAlpha = inside ? 1 : .5; ctx.strokeStyle = text; ctx.lineWidth = 1; ctx.strokeRect(x + .5, h - whole + .5, Math.max(1, width - 1), whole - alive - 1);
      hatch(ctx, x, h - whole, width, whole - alive);
    }
  });
  const at = turn => PAD + bars.findIndex(bar => bar.to >= turn) * step;
  ctx.globalAlpha = 1; ctx.strokeStyle = accent; ctx.lineWidth = 2;
  ctx.strokeRect(at(a) - 1, band + 1, Math.max(3, at(b) + step - at(a) + 1), room - 2);
  if (band) timeline(state, ctx, turn => at(turn) + step / 2, w, band, text, accent);
}

function timeline(state, ctx, x, w, band, text, accent) {
  const { data } = state, sizes = data.sent.map(([, size]) => size);
  const limits = data.thresholds.map(([, size]) => size), peak = sizes.reduce((a, b) => Math.max(a, b), 1);
  const most = limits.filter(size => size < 1.6 * peak).reduce((a, b) => Math.max(a, b), peak);
  const y = size => band - 4 - (band - 18) * Math.min(1.2, size / most);
  ctx.globalAlpha = .8; ctx.strokeStyle = text; ctx.lineWidth = 1; ctx.setLineDash([1.5, 3]);
  for (const size of limits) if (size <= most) { ctx.beginPath(); ctx.moveTo(PAD, y(size)); ctx.lineTo(w - PAD, y(size)); ctx.stroke(); }
  ctx.setLineDash([5, 3]); ctx.globalAlpha = .6; ctx.beginPath(); ctx.save(); ctx.rect(0, 8, w, band); ctx.clip(); ctx.beginPath();
  data.full.forEach(([turn, size], i) => ctx[i ? 'lineTo' : 'moveTo'](x(turn), band - 4 - (band - 18) * size / most));
  ctx.stroke(); ctx.restore(); ctx.setLineDash([]);
  ctx.beginPath(); data.sent.forEach(([turn, size], i) => ctx[i ? 'lineTo' : 'moveTo'](x(turn), y(size)));
  ctx.globalAlpha = 1; ctx.strokeStyle = accent; ctx.lineWidth = 1.5; ctx.stroke();
  ctx.lineTo(x(data.sent.at(-1)?.[0] ?? 1), band - 4); ctx.lineTo(x(data.sent[0]?.[0] ?? 1), band - 4);
  ctx.globalAlpha = .18; ctx.fillStyle = accent; ctx.fill(); ctx.globalAlpha = 1;
  state.passes.replaceChildren(...data.marks.map(mark => {
    const made = document.createElement('button');
    made.type = 'button'; made.title = mark.tip; made.dataset.pass = mark.number;
    made.className = mark.gains ? 'pass' : 'pass idle'; made.style.left = `${x(mark.turn)}px`;
    made.setAttribute('aria-label', mark.tip);
    made.onclick = () => { if (mark.gains) state.send('pass', mark.number); };
    return made;
  }));
}

// At most so many bars: neighbouring turns share one when there are more of them.
function bins(turns, most) {
  const per = Math.max(1, Math.ceil(turns.length / Math.max(1, most))), found = [];
  turns.forEach(([turn, live, dead], i) => {
    if (i % per === 0) found.push({ from: turn, to: turn, live: 0, dead: 0 });
    const bar = found.at(-1);
    bar.to = turn; bar.live += live; bar.dead += dead;
  });
  return found;
}

function hatch(ctx, x, y, width, height) {
  ctx.save(); ctx.beginPath(); ctx.rect(x, y, width, height); ctx.clip(); ctx.beginPath();
  for (let at = x - height; at < x + width; at += 4) { ctx.moveTo(at, y + height); ctx.lineTo(at + height, y); }
  ctx.stroke(); ctx.restore();
}

function turnAt(state, x) {
  const { canvas, data } = state, n = data.turns.length;
  const i = Math.floor((x - PAD) / ((canvas.clientWidth - 2 * PAD) / Math.max(1, n)));
  return data.turns[Math.min(n - 1, Math.max(0, i))]?.[0] ?? 1;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const canvas = parentElement.querySelector('canvas'), note = parentElement.querySelector('.note');
  const state = canvas.__strip ??= { canvas, passes: parentElement.querySelector('.passes') };
  state.data = data; state.drag = null; state.send = setTriggerValue;
  canvas.style.height = `${46 + data.band}px`;
  if (!data.band) state.passes.replaceChildren();
  canvas.setAttribute('aria-label', `Tokens of ${data.turns.length} turns; turns ${data.chosen[0]} to ${data.chosen[1]} are drawn. Left and right arrows move the choice.`);
  note.textContent = data.note;
  const x = event => event.clientX - canvas.getBoundingClientRect().left;
  canvas.onpointerdown = event => { state.from = turnAt(state, x(event)); canvas.setPointerCapture(event.pointerId); };
  canvas.onpointermove = event => {
    const turn = turnAt(state, x(event)), found = data.turns.find(each => each[0] === turn);
    canvas.title = found ? `turn ${turn}: ${found[1].toLocaleString('en')} tokens in the prompt, ${found[2].toLocaleString('en')} out of it` : '';
    if (state.from == null || (turn === state.from && !state.drag)) return;
    state.drag = [Math.min(turn, state.from), Math.max(turn, state.from)]; draw(state);
  };
  canvas.onpointerup = event => {
    if (state.drag) setTriggerValue('chosen', state.drag);
    else if (state.from != null) setTriggerValue('turn', state.from);
    state.from = null;
  };
  canvas.ondblclick = () => setTriggerValue('chosen', []);
  canvas.onkeydown = event => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], [a, b] = data.chosen, last = data.turns.at(-1)?.[0] ?? 1;
    if (event.key === 'Escape') setTriggerValue('chosen', []);
    if (!step) return;
    event.preventDefault();
    const by = Math.max(1, Math.round((b - a) / 4)) * step;
    if (a + by >= 1 && b + by <= last) setTriggerValue('chosen', [a + by, b + by]);
  };
  if (!state.watch) { state.watch = new ResizeObserver(() => draw(state)); state.watch.observe(canvas); }
  draw(state);
}
