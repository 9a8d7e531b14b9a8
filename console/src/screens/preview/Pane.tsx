import { useEffect, useRef, useState } from 'react'
import { entrance, type PreviewPlace } from '~/store/preview'
import css from './PreviewPanel.module.css'

/** The frame may run scripts and submit forms. It may not navigate the page and gets no device permissions. */
const STRANGER = 'allow-scripts allow-forms allow-popups allow-modals allow-downloads'
const OWN_HOST = `${STRANGER} allow-same-origin`

interface Props {
  readonly place: PreviewPlace
  readonly token: string
  readonly title: string
}

/** Frame of the previewed program. It stays when the token is renewed; only the cookie changes. */
export function Pane({ place, token, title }: Props) {
  const [first] = useState(token)
  const isOwnHost = place.framed === place.host
  return (
    <>
      <iframe
        className={css.pane}
        title={title}
        src={entrance(place.framed, first)}
        // A preview host has its own origin, and an application needs its storage.
        sandbox={isOwnHost ? OWN_HOST : STRANGER}
        referrerPolicy="no-referrer"
        allow=""
      />
      {token !== first && <Renewal key={token} address={entrance(place.framed, token)} />}
    </>
  )
}

/** Sends the new token to the preview in a hidden frame, and removes the frame after the load. */
function Renewal({ address }: { address: string }) {
  const [isDone, setDone] = useState(false)
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const { current } = frame
    const done = () => setDone(true)
    current?.addEventListener('load', done)
    return () => current?.removeEventListener('load', done)
  }, [])
  if (isDone) return null
  return <iframe ref={frame} hidden title="Renewal of the preview's cookie" src={address} sandbox="" />
}
