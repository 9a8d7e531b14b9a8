/*
 * The page's policy lets no script write a style element or a style attribute, and xterm writes both. The same rules in
 * a sheet that the document adopts, and the same declarations set through `style`, are allowed.
 */

/** Style elements of one widget, as adopted style sheets of the document. */
export class AdoptedStyles {
  readonly #sheets: CSSStyleSheet[] = []

  /** Runs code that creates style elements. They become adopted sheets, and later writes update them. */
  during(make: () => void): void {
    const create = document.createElement.bind(document)
    const adopting = (name: string, options?: ElementCreationOptions) =>
      name === 'style' ? this.#standIn(create('span')) : create(name, options)
    document.createElement = adopting as typeof document.createElement
    try {
      make()
    } finally {
      // The added sheet overrides that of the document.
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

/** A colour outside of the palette of 256 is written as a style attribute of a span. */
export function setSpanStylesByScript(): void {
  HTMLSpanElement.prototype.setAttribute = function (name: string, value: string) {
    if (name === 'style') this.style.cssText = value
    else Element.prototype.setAttribute.call(this, name, value)
  }
}
