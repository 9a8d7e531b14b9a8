import { type Control, Field } from './Field'

interface Props {
  readonly label: string
  readonly value: string
  /** Values with their texts. */
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly problem?: string
  readonly hint?: string
  readonly name?: string
  readonly onChange: (value: string) => void
}

/** A field with a list to choose from. A value that the list does not have is shown, too. */
export function Choose({ value, options, onChange, ...field }: Props) {
  const all = options.some(([one]) => one === value) ? options : [...options, [value, value] as const]
  return (
    <Field {...field}>
      {(control: Control) => (
        <select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
          {all.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
