/*
 * The page's policy lets no script write a style element or a style attribute, and xterm writes both. The same rules in
 * a sheet that the document adopts, and the same declarations set through `style`, are allowed.
 */

/** The style elements of one widget, as sheets that the document has adopted. */
export class AdoptedStyles {
  readonly #sheets: CSSStyleSheet[] = []

  /** Runs what makes style elements. They become sheets, whatever is written into them later. */
  during(make: () => void): void {
    const create = document.createElement.bind(document)
    const adopting = (name: string, options?: ElementCreationOptions) =>
      name === 'style' ? this.#standIn(create('span')) : create(name, options)
    document.createElement = adopting as typeof document.createElement
    try {
      make()
    } finally {
      // What was put there hides the document's own.
      Reflect.deleteProperty(document, 'createElement')
    }
  }

  remove(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !this.#sheets.includes(sheet))
  }

  #standIn(element: HTMLElement): HTMLElement {
    const sheet = new CSSStyleSheet()
    this.#sheets.push(sheet)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    element.hidden = true
    Object.defineProperty(element, 'textContent', { set: (rules: string) => sheet.replaceSync(rules) })
    return element
  }
}

/** A colour that is none of the 256 is written as a style attribute of a span. */
export function setSpanStylesByScript(): void {
  HTMLSpanElement.prototype.setAttribute = function (name: string, value: string) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
