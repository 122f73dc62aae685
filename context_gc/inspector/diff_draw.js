// Makes the elements of the diff. All text of a trace comes as values and is shown through textContent, or as
// the title of a button; nothing of it becomes markup, style or an address.

function drawItem(item) {
  if (item.fold) return drawFold(item);
  if (item.change === undefined) return drawRow(item);
  return item.fate === 'cut' ? drawCut(item) : drawRow(item.rows[0]);
}

function drawRow(row) {
  const made = el('div', row.waits ? `row ${row.fate} waits` : `row ${row.fate}`);
  made.dataset.seq = row.seq;
  const gutter = el('div', 'gutter');
  const name = button('pick', row.number, `Select event ${row.number}`);
  name.title = `${row.id}\n${row.kind}${row.note ? '\n' + row.note : ''}`;
  name.prepend(el('i', `kind ${row.kind}`));
  gutter.append(name);
  if (row.tokens) gutter.append(el('span', row.tokens[0] === '+' ? 'tokens grows' : 'tokens', row.tokens));
  if (row.waits) {
    gutter.append(el('span', 'wait', '◌ waits'));
    gutter.lastChild.title = row.note;
  }
  made.append(gutter);
  if (row.fate === 'cut') made.append(textCell(row, 'left', 'Removed: '));
  else if (row.parts) made.append(partsCell(row, 'left', 'new'), partsCell(row, 'right', ''));
  else made.append(textCell(row, 'left'), textCell(row, 'right'));
  const graph = button('graph', '↗', `Show event ${row.number} in the graph`);
  graph.title = 'Show in the graph';
  gutter.append(graph);
  return made;
}

function textCell(row, side, hint) {
  const cell = el('div', `cell ${side}`);
  if (hint) cell.append(el('span', 'hint', hint));
  const body = el('span', row.text ? 'body' : 'body nothing', row.text || '(prints nothing)');
  body.dataset.text = row.seq;
  cell.append(body);
  if (row.more) cell.append(moreButton(row));
  return cell;
}

function moreButton(row) {
  const made = button('more', `… ${row.more.toLocaleString('en-US')} more characters`);
  made.dataset.whole = row.seq;
  return made;
}

function partsCell(row, side, without) {
  const cell = el('div', `cell ${side}`);
  for (const [what, text] of row.parts) {
    if (what === 'stub') {
      if (side === 'right') cell.append(stubOf({}, text, [row]));
    } else if (what !== without) cell.append(el({ gone: 'del', new: 'ins' }[what] ?? 'span', '', text));
  }
  if (row.fate === 'clipped' && side === 'right') cell.append(reasonLine(`✂ ${row.note}`, row, 'why'));
  return cell;
}

/** A stub as a chip that opens in place to the originals behind it. */
function stubOf(about, text, rows) {
  const stub = el('details', 'stub');
  const chip = el('summary');
  chip.append(el('span', 'sign', '◆ '), el('span', 'label', text));
  if (about.tokens) chip.append(el('span', about.tokens[0] === '+' ? 'tokens grows' : 'tokens', `${about.tokens} tokens`));
  stub.append(chip);
  stub.rows = rows;
  return stub;
}

function drawCut(item) {
  const made = el('div', 'change');
  made.dataset.change = item.change;
  const left = el('div', 'removed');
  left.append(...item.rows.map((each) => (each.fold ? drawFold(each) : drawRow(each))));
  const right = el('div', 'came');
  right.append(el('div', 'stay'));
  right.firstChild.append(stubOf(item, item.stub || 'no stub', item.rows), reasonLine(`✂ ${item.stage}: ${item.reason}`, item, 'why'));
  made.append(left, right);
  return made;
}

/** A reason, with a link to the event that makes the cut safe. */
function reasonLine(text, about, name) {
  const made = el('div', name, text);
  if (about.witness !== undefined) {
    const link = button('witness', `→ ${about.witnessed}`, `Go to ${about.witnessed}, which makes it safe`);
    link.dataset.witness = about.witness;
    made.append(' ', link);
  }
  return made;
}

function drawOriginal(row) {
  if (row.fold) return drawFold(row);
  const made = el('div', 'original');
  made.dataset.original = row.seq;
  const head = reasonLine(` ${row.note ?? ''}`, row, 'what');
  const name = button('pick', row.number, `Select event ${row.number}`);
  name.dataset.pick = row.seq;
  head.prepend(name);
  made.append(head, textCell(row, 'whole'));
  return made;
}

function drawFold(item) {
  const made = button(`fold ${item.fate}`, item.label);
  made.dataset.start = item.fold[0];
  made.dataset.stop = item.fold[1];
  return made;
}

function drawListed(change) {
  const made = button('jump');
  made.dataset.jump = change.seq;
  made.append(el('span', change.grows ? 'tokens grows' : 'tokens', change.tokens));
  const sign = change.fate === 'marked' ? '±' : '✂';
  made.append(el('span', 'stage', `${sign} ${change.stage}`), el('span', 'reason', `${change.events}: ${change.reason}`));
  return made;
}
