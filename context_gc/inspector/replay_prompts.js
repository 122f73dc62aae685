// The prompts of a replay, from call to call: what stands at each place, what entered and what left.
const OWN = 0, NOTHING = -1, STUB = '[RECEIPT ';

class Prompts {
  /** Begin with another replay. `whole` holds texts that came later, because they are long. */
  begin(data) {
    const { calls } = data;
    Object.assign(this, { data, window: -1, at: 0, whole: new Map() });
    this.starts = calls.flatMap((each, at) => (at && calls[at - 1].w === each.w ? [] : [at + 1]));
    this.passes = calls.flatMap((each, at) => (each.pass ? [at + 1] : []));
  }

  get last() { return this.data.calls.length; }

  /** What stands at each place of this call's prompt, by the changes since its window began. */
  live(call) {
    const { calls } = this.data, { w } = calls[call - 1];
    if (w !== this.window || call < this.at) Object.assign(this, { window: w, at: this.starts.findLast((first) => first <= call) - 1, refs: [], why: {}, since: {} });
    for (; this.at < call; this.at += 1) {
      this.known = this.refs.length;
      this.left = []; this.entered = [];
      const told = calls[this.at];
      while (this.refs.length < told.start) this.refs.push(NOTHING);
      for (const [place, ref, why] of told.changes) {
        const before = place < this.known ? this.refs[place] : NOTHING, was = before !== NOTHING && !this.isStubRef(before);
        this.refs[place] = ref;
        this.since[place] = this.at + 1;
        if (why === undefined) delete this.why[place]; else this.why[place] = why;
        if (ref !== NOTHING && !this.isStubRef(ref)) { if (!was) this.entered.push(place); }
        else if ((was || place >= this.known) && this.event(place)[4]) this.left.push(place);
      }
    }
    this.size = calls[call - 1].start;
  }

  isStubRef(ref) { return ref > OWN && this.data.others[ref - 1][0].startsWith(STUB); }

  event(place) { return this.data.events[this.data.windows[this.window][0] + place]; }

  own(place) {
    const [, , , , told, more = 0] = this.event(place), key = `${this.window}/${place}`;
    return this.whole.get(key) ?? { key, told, more, place, call: 0 };
  }

  /** The text that stands at a place. */
  standing(place) {
    const ref = this.refs[place];
    if (ref === OWN) return this.own(place);
    const [told, more = 0] = this.data.others[ref - 1], key = `${this.window}/${place}/${ref}`;
    return this.whole.get(key) ?? { key, told, more, place, call: this.call };
  }

  /** The places that the stub at a place stands for. */
  run(place) {
    let stop = place + 1;
    while (stop < this.size && this.refs[stop] === NOTHING) stop += 1;
    while (stop > place + 1 && !this.event(stop - 1)[4]) stop -= 1;
    return Array.from({ length: stop - place }, (_, at) => place + at);
  }
}
