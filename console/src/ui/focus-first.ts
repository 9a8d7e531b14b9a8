/**
 * For the `ref` of the main element of a dialog: it gets the focus when the dialog opens. React's `autoFocus` runs too
 * early.
 */
export function focusFirst(element: HTMLElement | null): void {
  element?.setAttribute('autofocus', '')
}
