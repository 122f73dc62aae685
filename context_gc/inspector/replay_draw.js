// Makes the elements of the player. Text of a trace comes as values and is shown through textContent or as the
// title of a button; nothing of it becomes markup, style or an address.
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;
const CLIP = 700, CLIP_LINES = 10, CLIP_LEAST = 100;  // a text longer than CLIP or CLIP_LINES is clipped by CLIP_LEAST or more
const AT_ONCE = 100;  // originals behind a stub, and entries of a list, that are drawn before the rest is asked for

/** A text that reads as it stands: control and direction characters are written as escapes. */
function readable(text) {
  return text.replace(HIDDEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The first lines of a text, unless what would be left out is hardly anything. */
function beginning(text) {
  let end = 0;
  for (let line = 0; line < CLIP_LINES; line += 1) {
    end = text.indexOf('\n', end) + 1;
    if (!end || end > CLIP) break;
  }
  end = Math.min(end ? end - 1 : text.length, CLIP);
  return text.length - end < CLIP_LEAST ? text : text.slice(0, end);
}

/** A cell of text with a button for what is not shown; `text` is {key, told, more}: more is not here yet. */
function textCell(view, text) {
  const cell = el('div', 'cell'), open = view.opened.has(text.key);
  const drawn = open ? text.told : beginning(text.told), rest = text.told.length - drawn.length + text.more;
  cell.append(el('span', text.told ? 'text' : 'text nothing', readable(drawn) || '(prints nothing)'));
  if (rest || open) {
    const made = button('more', open && !text.more ? 'show less' : `… ${figure(rest)} more characters`);
    made.onclick = () => view.unfold(text);
    cell.append(made);
  }
  return cell;
}

function pickOf(view, place, extra) {
  const [number, kind, id, size] = view.event(place);
  const made = button('pick', `#${number}`, `Select event ${number}`);
  made.title = `${id}\n${view.data.kinds[kind]}, ${figure(size)} tokens in full${extra ? '\n' + extra : ''}`;
  made.prepend(el('i', `kind ${view.data.kinds[kind]}`));
  made.onclick = () => view.pick(place);
  return made;
}

function gutterOf(view, place, word) {
  const made = el('div', 'gutter');
  made.append(pickOf(view, place));
  if (word) made.append(el('span', 'word', word));
  return made;
}

/** One line of the prompt: an event as it stands, a stub, or what the model wrote to it. */
function drawItem(view, item) {
  if (item.head) {
    const made = el('div', 'head-row', item.head);
    return made;
  }
  const { place } = item, made = el('div', `row ${item.kind}${item.fresh ? ' fresh' : ''}`);
  made.dataset.place = place;
  made.append(gutterOf(view, place, item.kind === 'wrote' ? 'wrote' : item.fresh ? (item.kind === 'own' ? '+ entered' : '✂ now') : ''));
  made.append(item.kind === 'stub' ? drawStub(view, item) : textCell(view, item.kind === 'wrote' ? view.own(place) : view.standing(place)));
  if (item.kind === 'changed') made.lastChild.append(originalOf(view, place));
  return made;
}

function originalOf(view, place) {
  const key = `original ${view.window}/${place}`, made = el('details', 'stub'), chip = el('summary');
  chip.append(el('span', 'label', '◆ its original'));
  made.append(chip);
  made.open = view.opened.has(key);
  const fill = () => { if (made.open && made.childElementCount === 1) made.append(drawOriginal(view, place)); };
  made.ontoggle = () => { view.keep(key, made.open); fill(); };
  fill();
  return made;
}

/** A stub as a chip that opens in place to the originals behind it. */
function drawStub(view, item) {
  const cell = el('div', 'cell'), made = el('details', 'stub'), chip = el('summary');
  const key = `stub ${view.window}/${item.place}`, run = view.run(item.place);
  chip.append(el('span', 'sign', '◆ '), el('span', 'label', readable(view.standing(item.place).told)));
  const sizes = run.reduce((sum, place) => sum + view.event(place)[3], 0);
  chip.append(el('span', 'tokens', `${figure(run.length)} ${run.length === 1 ? 'event' : 'events'}, ${figure(sizes)} tokens`));
  made.append(chip);
  made.open = view.opened.has(key);
  const fill = () => { if (made.open && made.childElementCount === 1) made.append(originals(view, run, key)); };
  made.ontoggle = () => { view.keep(key, made.open); fill(); };
  fill();
  cell.append(made);
  return cell;
}

function originals(view, run, key) {
  const made = el('div', 'originals');
  const fill = (from) => {
    made.append(...run.slice(from, from + AT_ONCE).map((place) => drawOriginal(view, place)));
    const rest = run.length - from - AT_ONCE;
    if (rest <= 0) return;
    const more = button('more', `… ${figure(rest)} more events`);
    more.onclick = () => { more.remove(); fill(from + AT_ONCE); };
    made.append(more);
  };
  fill(0);
  made.dataset.of = key;
  return made;
}

function drawOriginal(view, place) {
  const made = el('div', view.isSelected(place) ? 'original selected' : 'original'), head = el('div', 'what');
  made.dataset.original = place;
  head.append(pickOf(view, place), ...reasonOf(view, place));
  made.append(head, textCell(view, view.own(place)));
  return made;
}

/** Why an event is out, with a button that goes to the event that makes it safe. */
function reasonOf(view, place) {
  const why = view.why[place];
  if (why === undefined) return [];
  const [stage, reason, witness] = view.data.reasons[why], told = [el('span', 'why', ` ✂ ${stage ? `${stage}: ` : ''}${reason} `)];
  if (witness >= 0) {
    const link = button('witness', `→ #${view.event(witness)[0]}`, `Select #${view.event(witness)[0]}, which makes it safe`);
    link.onclick = () => view.pick(witness);
    told.push(link);
  }
  return told;
}

/** A list at the left: what entered, what left, what the model wrote. */
function drawList(view, title, places, what) {
  const made = el('section', what), head = el('h2', '', title);
  head.append(el('span', 'count', ` ${figure(places.length)}`));
  made.append(head);
  const fill = (from) => {
    made.append(...places.slice(from, from + AT_ONCE).map((place) => drawEntry(view, place, what)));
    const rest = places.length - from - AT_ONCE;
    if (rest <= 0) return;
    const more = button('more', `… ${figure(rest)} more`);
    more.onclick = () => { more.remove(); fill(from + AT_ONCE); };
    made.append(more);
  };
  fill(0);
  if (!places.length) made.append(el('p', 'none', 'nothing'));
  return made;
}

function drawEntry(view, place, what) {
  const made = el('div', view.isSelected(place) ? 'entry selected' : 'entry');
  made.dataset.entry = place;
  const own = view.own(place).told, line = el('div', 'line');
  line.append(pickOf(view, place), el('span', 'tokens', figure(view.event(place)[3])));
  made.append(line);
  const first = readable(own.slice(0, 160).replace(/\s+/g, ' ')) || '(prints nothing)';
  if (what !== 'left') made.append(el('div', 'first', first));
  else {
    const stub = el('details', 'stub'), chip = el('summary');
    chip.append(el('span', 'label', first));
    stub.append(chip);
    stub.ontoggle = () => { if (stub.open && stub.childElementCount === 1) stub.append(textCell(view, view.own(place))); };
    made.append(stub);
    const why = el('div', 'reason');
    why.append(...reasonOf(view, place));
    made.append(why);
  }
  return made;
}
