/** For the `ref` of what a dialogue is about: it has the focus when the dialogue opens. React's own way comes too early. */
export function focusFirst(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}
