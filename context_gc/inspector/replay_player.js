// The player: which call is looked at, what its prompt holds, and the keys and buttons that move on. It has the
// whole replay at hand, so a step asks nobody; the page hears of the call once the reader rests. With
// replay_prompts.js, replay_draw.js, replay_plot.js and replay_list.js one script.
const REST = 250;  // milliseconds after which the page hears of the call
const all = (globalThis.__contextGcReplay ??= { views: {}, replies: {} });

class Player extends Prompts {
  constructor(host) {
    super();
    this.host = host;
    Object.assign(this, { call: 1, window: -1, opened: new Set(), sent: [], selected: null });
    this.find = (name) => host.querySelector(name);
    this.plot = new Plot(this.find('.plot'), (call) => this.go(call));
    const guess = (item) => (item.head ? 26 : 10 + 18 * Math.min(CLIP_LINES + 1, Math.ceil(this.length(item) / 110)));
    this.list = new NearList(this.find('.box'), this.find('.items'), (item) => this.drawn(item), guess);
    const acts = {
      first: () => this.go(1), back: () => this.go(this.call - 1), play: () => this.toggle(), on: () => this.go(this.call + 1),
      last: () => this.go(this.last), 'pass-back': () => this.toPass(-1), 'pass-on': () => this.toPass(1), copy: () => this.copy(),
    };
    for (const [name, act] of Object.entries(acts)) this.find(`button.${name}`).onclick = act;
    this.find('.number').onchange = (event) => this.go(Number(event.target.value) || this.call);
    host.addEventListener('keydown', (event) => this.key(event));
  }

  // what is shown

  take(data) {
    const grown = this.data && this.data.place === data.place;
    this.begin(data);
    this.version = data.version;
    if (!grown) { this.opened.clear(); this.list.heights.clear(); }
    const { calls } = data;
    this.find('.number').max = calls.length;
    this.find('.of').textContent = `of ${figure(calls.length)}`;
    for (const name of ['pass-back', 'pass-on']) this.find(`.${name}`).hidden = !this.passes.length;
    this.call = Math.max(1, Math.min(this.call, this.last));
    this.plot.show({
      count: calls.length, windows: this.starts, cold: calls.flatMap((each, at) => (each.cold ? [at + 1] : [])),
      series: [{ style: 'full', values: calls.map((each) => each.full) }, { style: 'sent', values: calls.map((each) => each.sent) }],
      marks: this.passes.filter((call) => calls[call - 1].pass.gains).map((call) => ({ call, value: calls[call - 1].full })),
      tell: (call) => `call ${figure(call)} of ${figure(calls.length)}\n${figure(calls[call - 1].sent)} tokens sent\n${figure(calls[call - 1].full)} full history`,
    }, this.call);
  }

  items() {
    const found = [], told = this.data.calls[this.call - 1];
    for (let place = 0; place < this.size; place += 1) {
      const ref = this.refs[place];
      if (ref === NOTHING) continue;
      const kind = ref === OWN ? 'own' : this.isStubRef(ref) ? 'stub' : 'changed', fresh = this.since[place] === this.call;
      const text = this.standing(place), run = kind === 'stub' ? this.run(place).length : 0;
      found.push({ key: `${this.window}/${place}`, place, kind, fresh, look: `${ref} ${fresh} ${run} ${text.more} ${this.opened.has(text.key)}` });
    }
    found.push({ key: 'head', head: 'What the model then wrote', look: '' });
    for (const place of told.wrote) {
      const text = this.own(place);
      found.push({ key: `wrote ${this.window}/${place}`, place, kind: 'wrote', look: `${text.more} ${this.opened.has(text.key)}` });
    }
    return found;
  }

  length(item) { return (item.kind === 'wrote' ? this.own(item.place) : this.standing(item.place)).told.length; }

  drawn(item) {
    const made = drawItem(this, item);
    this.marked(made, item);
    return made;
  }

  draw(toEnd) {
    this.live(this.call);
    this.list.show(this.items(), toEnd);
    const told = this.data.calls[this.call - 1], rail = this.find('.rail');
    rail.replaceChildren(drawList(this, 'Left since the call before', this.left, 'left'), drawList(this, 'Entered', this.entered, 'entered'), drawList(this, 'Then wrote', told.wrote, 'wrote'));
    rail.scrollTop = 0;
    this.facts(told);
    this.plot.stand(this.call);
    this.find('.number').value = this.call;
    this.find('.first').disabled = this.find('.back').disabled = this.call === 1;
    this.find('.last').disabled = this.find('.on').disabled = this.call === this.last;
    this.host.dataset.call = this.call;
    this.place();
  }

  facts(told) {
    const begun = this.starts.includes(this.call), less = told.full ? 100 * (told.sent / told.full - 1) : 0;
    const change = told.sent === told.full ? '' : `${less > 0 ? '+' : '−'}${Math.abs(less).toFixed(1)} %`;
    const facts = [['sent', `${figure(told.sent)} tokens`, change, ''], ['full history', figure(told.full), '', '']];
    if (told.reported) facts.push(['provider counted', figure(told.reported), '', 'The recorded prompt, system prompt and tools included']);
    facts.push(['model wrote', figure(told.out), '', 'Tokens, as reported or else estimated']);
    if (this.data.windows.length > 1) facts.push(['window', `${told.w + 1} of ${this.data.windows.length}`, '', '']);
    if (told.level) facts.push(['level', told.level, '', '']);
    facts.push(['cache', told.cold ? 'cold' : begun ? 'new window' : 'warm', told.cold || begun ? '' : `${figure(told.common)} begin as before`, 'Tokens that begin this prompt as they began the one before']);
    if (told.cost) facts.push(['cost', told.cost, this.data.dated, this.data.prices]);
    this.find('.facts').replaceChildren(...facts.map(([name, value, more, title]) => {
      const made = el('span', `fact ${name.replace(/ /g, '-')} ${name === 'level' ? value : ''}`);
      made.append(el('i', '', name), el('b', '', value), el('small', '', more));
      made.title = title;
      return made;
    }));
    this.find('.priced').textContent = told.cost ? '' : this.data.prices;
    this.find('.told').textContent = told.pass ? `▼ ${told.pass.told}` : '';
    this.find('.cold').textContent = told.cold ? `The cache was cold: ${told.cold}.` : '';
    this.find('.said').textContent = this.timer ? '' : `call ${this.call}: ${figure(told.sent)} tokens sent, ${this.entered.length} entered, ${this.left.length} left`;
  }

  // the selected event

  isSelected(place) { return this.selected?.[0] === this.window && this.selected[1] === place; }

  marked(node, item) {
    const here = this.selected?.[0] === this.window ? this.selected[1] : -1;
    const inside = item.kind === 'stub' && item.place < here && this.run(item.place).includes(here);
    node.classList.toggle('selected', !item.head && item.place === here);
    node.classList.toggle('holds', inside);
    node.querySelectorAll('[data-original]').forEach((each) => each.classList.toggle('selected', Number(each.dataset.original) === here));
  }

  mark() {
    for (const item of this.list.items) {
      const node = this.list.nodes.get(item.key);
      if (node) this.marked(node, item);
    }
    this.host.querySelectorAll('[data-entry]').forEach((each) => each.classList.toggle('selected', this.isSelected(Number(each.dataset.entry))));
    this.place();
  }

  /** Says where the selected event stands now, with a way to it. */
  place() {
    const line = this.find('.where');
    line.replaceChildren();
    if (!this.selected) return;
    const [window, place] = this.selected, number = this.data.events[this.data.windows[window][0] + place][0];
    const enters = this.data.calls.findIndex((each) => each.w === window && each.start > place) + 1;
    const at = this.standsAt(window, place);
    const told = { own: 'stands in this prompt', changed: 'stands shortened', stub: 'is behind a stub' };
    line.append(el('b', '', `#${number}`), ` ${at < 0 ? this.absent(window, place, enters) : told[this.list.items[at].kind]} `);
    const link = button('jump', at < 0 ? `go to call ${figure(enters)}` : 'show it');
    link.onclick = () => { if (at < 0) this.go(enters); const there = this.standsAt(window, place); if (there >= 0) this.list.go(there); };
    if (at >= 0 || (enters && enters !== this.call)) line.append(link);
  }

  absent(window, place, enters) {
    if (!enters) return 'came after the last call of its window';
    return window !== this.window || place >= this.size ? `enters at call ${figure(enters)}` : 'is out, and nothing stands for it';
  }

  /** Index of the item that holds an event: its own, or the stub of its run; -1 for none. */
  standsAt(window, place) {
    if (window !== this.window || place >= this.size) return -1;
    let at = place;
    while (at >= 0 && this.refs[at] === NOTHING) at -= 1;
    if (at < 0 || (at !== place && !(this.isStubRef(this.refs[at]) && this.run(at).includes(place)))) return -1;
    return this.list.items.findIndex((item) => item.place === at);
  }

  pick(place) { this.send('picked', [this.window, place]); }

  // moving

  go(call) {
    const next = Math.max(1, Math.min(this.last, Math.round(call)));
    if (next === this.call && this.at) return;
    this.call = next;
    this.draw(this.list.isAtEnd || this.data.calls[next - 1].w !== this.window);
    this.rest();
  }

  toPass(by) {
    const next = by > 0 ? this.passes.find((each) => each > this.call) : this.passes.findLast((each) => each < this.call);
    if (next) this.go(next);
  }

  toggle() {
    if (this.timer) { this.pause(); return; }
    if (this.call === this.last) this.go(1);
    const step = () => {
      if (this.call >= this.last || !this.host.isConnected) { this.pause(); return; }
      this.go(this.call + 1);
      this.timer = setTimeout(step, 1000 / Number(this.find('.speed').value));
    };
    this.timer = setTimeout(step, 1000 / Number(this.find('.speed').value));
    this.playing();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing();
    this.rest();
  }

  playing() {
    const made = this.find('button.play');
    made.textContent = this.timer ? 'Pause' : 'Play';
    made.setAttribute('aria-pressed', String(Boolean(this.timer)));
    this.host.dataset.playing = Boolean(this.timer);
  }

  rest() {
    clearTimeout(this.resting);
    if (!this.timer) this.resting = setTimeout(() => this.tell(), REST);
  }

  tell() {
    const told = this.data.live && this.call === this.last ? 0 : this.call;
    if (told === (this.sent.at(-1) ?? this.told)) return;
    this.sent.push(told);
    this.send('call', told);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.target.closest('input, select')) return;
    if (event.key === ' ' && event.target.closest('button, summary')) return;
    const acts = {
      ArrowRight: () => this.go(this.call + 1), ArrowLeft: () => this.go(this.call - 1), Home: () => this.go(1), End: () => this.go(this.last),
      ' ': () => this.toggle(), n: () => this.toPass(1), p: () => this.toPass(-1),
    };
    if (event.target.closest('.plot')) Object.assign(acts, { ArrowUp: acts.ArrowRight, ArrowDown: acts.ArrowLeft, PageUp: () => this.go(this.call + 10), PageDown: () => this.go(this.call - 10) });
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // texts

  unfold(text) {
    if (!this.opened.delete(text.key) || text.more) this.opened.add(text.key);
    if (text.more) this.send('asked', { window: this.window, place: text.place, call: text.call, key: text.key, version: this.version, nonce: `${Date.now()}` });
    this.redraw();
  }

  /** Draw again what is drawn: an opened text inside a stub belongs to no item's look. */
  redraw() {
    for (const node of this.list.nodes.values()) node.look = null;
    this.list.show(this.items(), false);
  }

  keep(key, open) { if (open) this.opened.add(key); else this.opened.delete(key); }

  copy() {
    const texts = this.refs.slice(0, this.size).flatMap((ref, place) => (ref === NOTHING ? [] : [this.standing(place)]));
    const made = this.find('button.copy'), short = texts.some((text) => text.more);
    if (short) { made.title = 'Too long to be at hand here: use context-gc replay TRACE --at K'; made.textContent = 'Too long to copy'; return; }
    navigator.clipboard.writeText(texts.map((text) => text.told).join('\n')).then(() => { made.textContent = 'Copied'; }, () => { made.textContent = 'Not allowed'; });
    setTimeout(() => { made.textContent = 'Copy prompt'; }, 1500);
  }

  // the page

  reply(reply) {
    const told = reply.end && this.data.live ? 0 : reply.call, changed = this.told !== told;
    this.told = told;
    const answer = reply.answer;
    if (answer && answer.version === this.version && !this.whole.has(answer.key)) {
      this.whole.set(answer.key, { key: answer.key, told: answer.text, more: 0, place: answer.place, call: answer.call });
      this.redraw();
    }
    const echo = this.sent.indexOf(told);
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if ((changed || !this.at) && !this.timer) this.call = told ? Math.max(1, Math.min(this.last, told)) : this.last;
    const first = !this.at, fresh = JSON.stringify(reply.selected) !== JSON.stringify(this.selected);
    this.selected = reply.selected;
    if (this.drawnCall !== `${this.version} ${this.call}`) this.draw(first || this.list.isAtEnd);
    this.drawnCall = `${this.version} ${this.call}`;
    if (!fresh) return;
    this.mark();
    const at = this.selected ? this.standsAt(...this.selected) : -1;
    if (at >= 0 && !this.list.isSeen(at)) this.list.go(at);
  }
}

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const host = parentElement.querySelector('.replay');
  let view = all.views[data.gid];
  if (!view || view.host !== host) view = all.views[data.gid] = new Player(host);
  view.send = (name, value) => (name === 'call' ? setStateValue : setTriggerValue)(name, value);
  if (view.version !== data.version) {
    view.take(data);
    if (all.replies[data.gid]) view.reply(all.replies[data.gid]);
  }
  return () => { if (!host.isConnected && all.views[data.gid] === view) { view.pause(); clearTimeout(view.resting); delete all.views[data.gid]; } };
}
