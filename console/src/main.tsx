import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { onSignedOut } from './api/client'
import { ApiError } from './api/problem'
import { sessionQuery } from './api/session'
import { makeRouter } from './router'
import './theme/fonts.css'
import './theme/tokens.css'
import './theme/base.css'
import { startTheme } from './theme/theme'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 3 && !(error instanceof ApiError && !error.isPassing),
    },
  },
})
const router = makeRouter(queries)

onSignedOut(() => {
  if (queries.getQueryData(sessionQuery.queryKey)) {
    queries.setQueryData(sessionQuery.queryKey, null)
    void router.invalidate()
  }
})

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

startTheme()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
