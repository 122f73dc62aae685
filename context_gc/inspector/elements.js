// Elements that the components draw with. Text is shown through textContent or as an attribute, never as markup.
function el(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function button(name, text, label) {
  const made = el('button', name, text);
  made.type = 'button';
  if (label) made.setAttribute('aria-label', label);
  return made;
}

