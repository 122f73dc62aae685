// The diff: what was drawn by diff_draw.js, kept in step with the page and answering to clicks and keys.
// Both files are one script.
const views = (globalThis.__contextGcDiff ??= { views: {}, replies: {} });

class View {
  constructor(host) {
    this.host = host;
    this.rail = host.querySelector('.rail');
    this.box = host.querySelector('.box');
    this.items = host.querySelector('.items');
    this.said = host.querySelector('.said');
    this.queue = [];
    this.drawn = [];
    this.grown = false;
    this.asked = 0;
    this.version = null;
    host.addEventListener('click', (event) => this.click(event));
    this.box.addEventListener('keydown', (event) => this.key(event));
    host.addEventListener('toggle', (event) => this.toggle(event.target), true);
    new ResizeObserver(() => this.fit()).observe(host);
  }

  // drawing

  draw(data) {
    const before = this.version === null ? null : this.topmost();
    const grown = (this.grown = data.live && this.data?.live && this.data.place === data.place);
    const ended = grown && data.tail && this.isAtEnd();
    Object.assign(this, { version: data.version, data, queue: [], busy: null, want: null, current: null });
    this.host.querySelector('.head .before').textContent = `${data.names?.[0] ?? 'Full history'}  ${data.before} tokens`;
    this.host.querySelector('.head .after').textContent = `${data.names?.[1] ?? 'Prompt'}  ${data.after} tokens`;
    const change = this.host.querySelector('.head .delta');
    change.textContent = data.changes.length ? data.change : data.names ? 'no difference' : 'nothing cut';
    change.classList.toggle('grows', data.change.startsWith('+'));
    this.host.querySelector('.side .count').textContent = data.count;
    this.rail.replaceChildren(...data.changes.map((each) => drawListed(each)));
    if (data.unlisted) this.rail.append(el('div', 'unlisted', `and ${data.unlisted} more changes`));
    if (!data.changes.length) this.rail.append(el('div', 'unlisted', data.empty));
    this.host.querySelector('.head .step').hidden = !data.changes.length;
    if (grown) {
      this.grow(data.items);
      if (ended) this.box.scrollTop = this.box.scrollHeight;
      return;
    }
    this.drawn = data.items.map((item) => entry(item));
    this.items.replaceChildren(...this.drawn.flatMap((each) => each.nodes));
    this.box.scrollTop = 0;
    if (before !== null) this.go(before, 'show');
  }

  /** Of a file that grew only what is different is drawn anew: what is read stays where it is, open as it was. */
  grow(items) {
    const open = new Set([...this.items.querySelectorAll('.stub[open]')].map(placeOf));
    const old = new Map(this.drawn.map((each) => [each.told, each]));
    const next = items.map((item) => {
      const known = old.get(JSON.stringify(item)) ?? this.drawn.find((each) => each.unfolded && longer(each.fold, item.fold));
      if (!known) return entry(item);
      old.delete(known.told);
      return known.told === JSON.stringify(item) ? known : extended(known, item);
    });
    for (const gone of old.values()) gone.nodes.forEach((node) => node.remove());
    let at = this.items.firstChild;
    for (const node of next.flatMap((each) => each.nodes)) {
      if (node === at) at = at.nextSibling;
      else this.items.insertBefore(node, at);
    }
    this.drawn = next;
    for (const stub of this.items.querySelectorAll('.stub:not([open])')) {
      if (open.has(placeOf(stub))) { stub.open = true; this.toggle(stub); }
    }
  }

  isAtEnd() {
    return this.box.scrollTop + this.box.clientHeight >= this.box.scrollHeight - 24;
  }

  // acting

  click(event) {
    const hit = event.target.closest('button');
    if (!hit) return;
    const row = hit.closest('[data-seq]');
    if (hit.matches('.pick')) this.send('picked', Number(hit.dataset.pick ?? row.dataset.seq));
    else if (hit.matches('.graph')) this.send('graph', Number(row.dataset.seq));
    else if (hit.matches('.witness')) this.send('picked', Number(hit.dataset.witness));
    else if (hit.matches('.fold')) this.ask({ start: Number(hit.dataset.start), stop: Number(hit.dataset.stop) });
    else if (hit.matches('.more')) this.ask({ seq: Number(hit.dataset.whole) });
    else if (hit.matches('.jump')) this.go(Number(hit.dataset.jump), 'jump');
    else if (hit.matches('.next')) this.step(1);
    else if (hit.matches('.previous')) this.step(-1);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { n: 1, j: 1, p: -1, k: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(by);
  }

  toggle(details) {
    if (!details.open || details.drawn || !details.rows) return;
    details.drawn = true;
    const inside = el('div', 'originals');
    inside.append(...details.rows.map((row) => drawOriginal(row)));
    details.append(inside);
    this.mark();
  }

  step(by) {
    const all = this.data.changes;
    if (!all.length) return;
    const top = this.current !== null && this.onScreen(this.current) ? this.current : this.topmost() - by;
    const at = by > 0 ? all.findIndex((each) => each.seq > top) : all.findLastIndex((each) => each.seq < top);
    this.go(all[at < 0 ? (by > 0 ? all.length - 1 : 0) : at].seq, 'jump');
  }

  /** Bring an event into view: "show" puts it at the top, "jump" makes it the current change, "select" marks it. */
  go(seq, how) {
    const folds = [...this.items.querySelectorAll('.fold')];
    const fold = folds.find((each) => Number(each.dataset.start) <= seq && seq < Number(each.dataset.stop));
    const found = this.place(seq) ?? (how === 'show' ? fold : null);
    if (!found) {
      if (fold && this.want?.seq !== seq) {
        this.want = { seq, how };
        this.ask({ start: Number(fold.dataset.start), stop: Number(fold.dataset.stop), focus: seq });
      }
      return;
    }
    this.want = null;
    const above = how === 'show' ? 0 : this.box.clientHeight / 4;
    this.box.scrollTop += found.getBoundingClientRect().top - this.box.getBoundingClientRect().top - above;
    if (how === 'jump') this.stand(seq);
  }

  /** What is visible of an event: its row, or in "after only" its place in the opened stub. */
  place(seq) {
    const row = this.items.querySelector(`.row[data-seq="${Number(seq)}"]`);
    if (!row || row.getClientRects().length) return row;
    const stub = row.closest('.change')?.querySelector('.stub');
    if (!stub) return row;
    stub.open = true;
    this.toggle(stub);
    return stub.querySelector(`[data-original="${Number(seq)}"]`) ?? stub;
  }

  stand(seq) {
    this.current = seq;
    const at = this.data.changes.findIndex((each) => each.seq === seq);
    this.host.querySelectorAll('.now').forEach((each) => each.classList.remove('now'));
    const listed = this.rail.children[at];
    listed?.classList.add('now');
    if (listed) this.rail.scrollTop = listed.offsetTop - this.rail.offsetTop - this.rail.clientHeight / 3;
    this.place(seq)?.closest('.change, .row').classList.add('now');
    this.said.textContent = `change ${at + 1} of ${this.data.changes.length + this.data.unlisted}`;
  }

  topmost() {
    const top = this.box.getBoundingClientRect().top;
    const rows = [...this.items.querySelectorAll('.row')].filter((row) => row.getClientRects().length);
    let low = 0, high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].getBoundingClientRect().bottom > top + 1) high = middle; else low = middle + 1;
    }
    return low < rows.length ? Number(rows[low].dataset.seq) : 0;
  }

  // asking Python

  ask(question) {
    this.queue.push(question);
    if (!this.busy) this.sendNext();
  }

  sendNext() {
    clearTimeout(this.patience);
    const question = this.queue.shift();
    this.busy = question ? { ...question, version: this.version, nonce: `${Date.now()}-${++this.asked}` } : null;
    if (!this.busy) return;
    this.patience = setTimeout(() => { this.want = null; this.sendNext(); }, 8000);
    this.send('asked', this.busy);
  }

  reply(reply) {
    this.mode = reply.mode;
    this.fit();
    const told = reply.answer;
    if (told && this.busy && told.nonce === this.busy.nonce && told.version === this.version) {
      if (told.items) this.unfold(told);
      else this.open(told);
      this.sendNext();
    }
    if (reply.selected !== this.selected || (reply.version !== this.marked && !this.grown)) {
      this.selected = reply.selected;
      this.marked = reply.version;
      if (reply.selected !== null && !this.onScreen(reply.selected)) this.go(reply.selected, 'select');
    }
    this.mark();
    if (this.want && told) { const want = this.want; this.go(want.seq, want.how); this.mark(); }
  }

  /** Two columns need room: without it, side by side becomes unified and the list goes on top. */
  fit() {
    const width = this.host.clientWidth;
    this.host.classList.toggle('narrow', width < 760);
    this.host.dataset.mode = this.mode === 'side' && width < 700 ? 'unified' : this.mode;
  }

  onScreen(seq) {
    const row = this.place(seq)?.getBoundingClientRect(), box = this.box.getBoundingClientRect();
    return row && row.top >= box.top && row.top < box.bottom - 20;
  }

  mark() {
    this.host.querySelectorAll('.selected').forEach((each) => { each.classList.remove('selected'); each.removeAttribute('aria-current'); });
    if (this.selected === null || this.selected === undefined) return;
    const seq = Number(this.selected);
    this.host.querySelectorAll(`[data-seq="${seq}"], [data-original="${seq}"]`).forEach((each) => {
      each.classList.add('selected');
      each.setAttribute('aria-current', 'true');
    });
  }

  unfold(told) {
    this.host.querySelectorAll(`.fold[data-start="${told.start}"][data-stop="${told.stop}"]`).forEach((fold) => {
      const inStub = fold.closest('.originals');
      const nodes = told.items.map((item) => (inStub ? drawOriginal(item) : drawItem(item)));
      const whole = this.drawn.find((each) => each.nodes.includes(fold));
      if (whole) Object.assign(whole, { unfolded: true, nodes: whole.nodes.flatMap((node) => (node === fold ? nodes : [node])) });
      fold.replaceWith(...nodes);
    });
  }

  open(told) {
    this.host.querySelectorAll(`[data-text="${told.seq}"]`).forEach((body) => { body.textContent = told.text; });
    this.host.querySelectorAll(`[data-whole="${told.seq}"]`).forEach((each) => each.remove());
  }
}

// What is drawn of the data: an item with the elements that stand for it, also once it was unfolded.
function entry(item) {
  return { told: JSON.stringify(item), fold: item.fold, nodes: [drawItem(item)] };
}

function longer(before, now) {
  return now && before && before[0] === now[0] && before[1] < now[1];
}

function extended(known, item) {
  const fold = [known.fold[1], item.fold[1]];
  const more = drawItem({ ...item, fold, label: `… ${(fold[1] - fold[0]).toLocaleString('en-US')} more events` });
  return { told: JSON.stringify(item), fold: item.fold, unfolded: true, nodes: [...known.nodes, more] };
}

function placeOf(stub) {
  return stub.closest('[data-change], [data-seq]')?.dataset.change ?? `row ${stub.closest('[data-seq]')?.dataset.seq}`;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector('.diff');
  let view = views.views[data.gid];
  if (!view || view.host !== host) view = views.views[data.gid] = new View(host);
  view.send = setTriggerValue;
  if (view.version !== data.version) {
    view.draw(data);
    const reply = views.replies[data.gid];
    if (reply) view.reply(reply);
  }
  return () => { if (!host.isConnected && views.views[data.gid] === view) delete views.views[data.gid]; };
}
