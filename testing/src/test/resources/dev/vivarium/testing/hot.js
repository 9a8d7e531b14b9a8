// Minimal development server: serves a page and notifies listeners when it changes. Writes its port to `port`.
const http = require('http')
const fs = require('fs')

const listeners = new Set()

fs.watch('.', (_, name) => {
  if (name === 'page.html') {
    listeners.forEach((listener) => listener.write('data: reload\n\n'))
  }
})

const server = http.createServer((request, response) => {
  if (request.url === '/changes') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: listening\n\n')
    listeners.add(response)
    response.on('close', () => listeners.delete(response))
  } else {
    response.end(fs.readFileSync('page.html'))
  }
})

server.listen(0, 'localhost', () => {
  fs.writeFileSync('port.part', String(server.address().port))
  fs.renameSync('port.part', 'port')
})
