import { Link } from '@tanstack/react-router'
import { Empty } from '~/ui/States'

export function NotFound() {
  return (
    <Empty isPage title="Page not found">
      <Link to="/console">Go to the fleet</Link>
    </Empty>
  )
}
