// Builds the page's own DOM from a tree of [tag, attributes, children] and strings. Strings become text
// nodes: nothing here parses HTML, so text of a trace stays text.
const TAGS = new Set(['div', 'span', 'b', 'p', 'ol', 'li', 'button', 'small', 'code', 'h2']);

function make(part, send) {
  if (typeof part === 'string') return document.createTextNode(part);
  const [tag, attrs, children] = part;
  const element = document.createElement(TAGS.has(tag) ? tag : 'span');
  if (attrs.cls) element.className = attrs.cls;
  if (attrs.title) element.title = attrs.title;
  if (attrs.role) element.setAttribute('role', attrs.role);
  if (attrs.label) element.setAttribute('aria-label', attrs.label);
  for (const [name, value] of Object.entries(attrs.vars ?? {})) element.style.setProperty('--' + name, String(value));
  if (attrs.go) element.addEventListener('click', () => send(attrs.go));
  element.append(...children.map(child => make(child, send)));
  return element;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector('.parts');
  const version = JSON.stringify(data.tree);
  if (host.__version === version) return;
  host.__version = version;
  host.replaceChildren(...data.tree.map(part => make(part, go => setTriggerValue('go', go))));
}
