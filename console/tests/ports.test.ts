import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { LIST_PORTS, listeningPorts } from '~/store/ports'

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:77CF 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 8498380 1 0 100 0 0 10 0
   1: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 8506537 1 0 100 0 0 10 0
   2: 0100007F:1F90 0100007F:E39E 01 00000000:00000000 00:00000000 00000000  1000        0 8506538 1 0 22 4 30 18 -1
`

it('lists ports of programs, but not those of the sandbox itself', () => {
  expect(listeningPorts(`${TABLE}socket:[8506537]\nsocket:[8506538]\n`)).toEqual([3000])
})

it('finds the port of a real program', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const [program = '', ...words] = LIST_PORTS
  expect(listeningPorts(execFileSync(program, words, { encoding: 'utf8', stdio: 'pipe' }))).toContain(port)
  server.close()
})
