// Building and updating elements. Text goes in as text; nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element with attributes and children; an attribute of undefined or false is left out. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/** An SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

/** Set attributes; those that are already so are left alone, since setting one costs a layout. */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false || value === null) put(node, name, null);
    else put(node, name, value === true ? "" : String(value));
  }
}

/** Switch an attribute on or off; nothing happens where it is already so. */
export function toggle(node, name, isOn) {
  if (node.hasAttribute(name) !== isOn) node.toggleAttribute(name, isOn);
}

/** Set an attribute, or take it away with null; nothing happens where it is already so. */
export function put(node, name, value) {
  if (node.getAttribute(name) === value) return;
  if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

/** Put text into an element; nothing happens where it is already there. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Put an element at a place inside its positioned parent. */
export function place(node, x, y, width, height) {
  node.style.left = `${x}px`;
  node.style.top = `${y}px`;
  if (width !== undefined) node.style.width = `${width}px`;
  if (height !== undefined) node.style.height = `${height}px`;
}

/** A key cap. */
export function keyCap(text) {
  return element("kbd", {}, text);
}

/** Children of a parent that follow a list: made once per key, changed only when they differ. */
export class KeyedChildren {
  #nodes = new Map(); // key -> {node, signature}

  constructor(parent, { make, update }) {
    this.parent = parent;
    this.make = make;
    this.update = update;
  }

  /** Show these items, [{key, ...}], and take away the rest. */
  render(items) {
    const seen = new Set();
    for (const item of items) {
      seen.add(item.key);
      const signature = JSON.stringify(item);
      const known = this.#nodes.get(item.key);
      if (known?.signature === signature) continue;
      const node = known?.node ?? this.make(item);
      this.update(node, item);
      if (!known) this.parent.append(node);
      this.#nodes.set(item.key, { node, signature });
    }
    for (const [key, { node }] of this.#nodes) {
      if (seen.has(key)) continue;
      node.remove();
      this.#nodes.delete(key);
    }
  }
}
