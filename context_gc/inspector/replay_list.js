// A list that draws only what is near the part in view. Heights are estimated until an item has been drawn.
const NEAR = 700;  // px beyond the part in view that are drawn too

class NearList {
  /** `draw(item)` makes an item's element; `guess(item)` its height. Items with the same `key` and `look` are kept. */
  constructor(box, inside, draw, guess) {
    Object.assign(this, { box, inside, draw, guess, items: [], nodes: new Map(), heights: new Map(), tops: [0] });
    box.addEventListener('scroll', () => this.paint());
    this.watch = new ResizeObserver((seen) => this.measured(seen));
    new ResizeObserver(() => this.paint()).observe(box);
  }

  get isAtEnd() {
    return this.box.scrollTop + this.box.clientHeight >= this.box.scrollHeight - 24;
  }

  /** Show other items; what stands at the top stays there, or the end stays in view. */
  show(items, toEnd) {
    const anchor = toEnd ? null : this.anchor();
    this.items = items;
    this.place();
    if (toEnd) this.end();
    else this.hold(anchor);
    this.paint();
    if (toEnd) this.end();
  }

  end() {
    for (let tries = 0; tries < 4; tries += 1) {  // each time what came into view is measured
      this.box.scrollTop = this.box.scrollHeight;
      this.paint();
      if (!this.learn()) break;
    }
    this.box.scrollTop = this.box.scrollHeight;
    this.stuck = true;
  }

  /** Bring an item into view. */
  go(at) {
    for (let tries = 0; tries < 4; tries += 1) {
      this.box.scrollTop = Math.max(0, this.tops[at] - this.box.clientHeight / 4);
      this.paint();
      if (!this.learn()) break;
    }
  }

  isSeen(at) {
    return this.tops[at] >= this.box.scrollTop && this.tops[at] < this.box.scrollTop + this.box.clientHeight - 20;
  }

  find(top) {
    let low = 0, high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] > top) high = middle; else low = middle + 1;
    }
    return low;
  }

  anchor() {
    const at = this.find(this.box.scrollTop);
    const keys = this.items.slice(Math.max(0, at - 40), at + 1).map((item) => item.key).reverse();
    return { keys, by: this.box.scrollTop - (this.tops[at] ?? 0) };
  }

  hold(anchor) {
    const places = new Map(this.items.map((item, at) => [item.key, at]));
    const found = anchor.keys.find((key) => places.has(key));
    if (found === undefined) return;
    this.box.scrollTop = this.tops[places.get(found)] + (found === anchor.keys[0] ? anchor.by : 0);
  }

  place() {
    const tops = (this.tops = [0]);
    for (const item of this.items) tops.push(tops.at(-1) + (this.heights.get(item.key) ?? this.guess(item)));
  }

  paint() {
    const { box, items, tops, nodes } = this;
    const first = this.find(box.scrollTop - NEAR), last = Math.min(items.length, this.find(box.scrollTop + box.clientHeight + NEAR) + 1);
    const wanted = new Map();
    for (let index = first; index < last; index += 1) {
      const item = items[index];
      let node = nodes.get(item.key);
      if (!node || node.look !== item.look) {
        if (node) { this.watch.unobserve(node); node.remove(); }
        node = this.draw(item);
        node.look = item.look;
        this.watch.observe(node);
      }
      wanted.set(item.key, node);
      nodes.delete(item.key);
    }
    for (const node of nodes.values()) { this.watch.unobserve(node); node.remove(); }
    this.nodes = wanted;
    let at = this.inside.firstChild;
    for (const node of wanted.values()) {
      if (node === at) at = at.nextSibling;
      else this.inside.insertBefore(node, at);
    }
    this.inside.style.paddingTop = `${tops[first] ?? 0}px`;
    this.inside.style.paddingBottom = `${(tops.at(-1) ?? 0) - (tops[last] ?? 0)}px`;
  }

  /** Take in the heights of what is drawn; gives whether one was another than was thought. */
  learn() {
    let changed = false;
    for (const [key, node] of this.nodes) {
      const height = node.getBoundingClientRect().height;
      if (height && Math.abs((this.heights.get(key) ?? -1) - height) > 0.5) { this.heights.set(key, height); changed = true; }
    }
    if (changed) this.place();
    return changed;
  }

  measured() {
    const anchor = this.anchor(), ended = this.isAtEnd;
    if (!this.learn()) return;
    if (ended) this.end();
    else { this.hold(anchor); this.paint(); }
  }
}
