import { useTimes } from '~/theme/times'
import { ago, moment } from './format'
import { useNow } from './now'

/** A time in the format of the user; the title has the other format. */
export function When({ at }: { at: string }) {
  const times = useTimes()
  const passed = useNow() - Date.parse(at)
  const since = passed < 1_000 ? 'now' : `${ago(passed)} ago`
  return (
    <time dateTime={at} title={times === 'relative' ? moment(at) : since}>
      {times === 'relative' ? since : moment(at)}
    </time>
  )
}
