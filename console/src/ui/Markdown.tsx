import { lexer, type Token, type Tokens } from 'marked'
import type { ReactNode } from 'react'
import css from './Markdown.module.css'

/**
 * Untrusted Markdown of people and agents, as elements. HTML is shown as text, images are not loaded (their address
 * could report that it was read), and links lead only to the web.
 */
export default function Markdown({ children }: { children: string }) {
  return <div className={css.markdown}>{blocks(lexer(children))}</div>
}

function blocks(tokens: readonly Token[]): ReactNode {
  return tokens.map((token, index) => <Block key={index} token={token} />)
}

function Block({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return <p className={css.heading}>{inline(token.tokens)}</p>
    case 'code':
      return <pre>{token.text}</pre>
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>
    case 'hr':
      return <hr />
    case 'list':
      return <List list={token as Tokens.List} />
    case 'table':
      return <Table table={token as Tokens.Table} />
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>
    case 'text':
      return 'tokens' in token && token.tokens ? <span>{inline(token.tokens)}</span> : token.text
    default:
      return <p>{token.raw}</p>
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      {item.task && <input type="checkbox" checked={item.checked} readOnly disabled aria-label="done" />}
      {blocks(item.tokens)}
    </li>
  ))
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    <div className={css.wide}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, column) => (
              <th key={column}>{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, column) => (
                <td key={column}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Inline key={index} token={token} />)
}

function Inline({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>
    case 'em':
      return <em>{inline(token.tokens)}</em>
    case 'del':
      return <del>{inline(token.tokens)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <WebLink link={token as Tokens.Link} />
    case 'escape':
      return token.text
    case 'text':
      return 'tokens' in token && token.tokens ? inline(token.tokens) : token.text
    default:
      return token.raw
  }
}

function WebLink({ link }: { link: Tokens.Link }) {
  if (!/^https?:\/\//i.test(link.href)) return link.raw
  return (
    <a href={link.href} title={link.href} target="_blank" rel="noopener noreferrer">
      {inline(link.tokens)}
    </a>
  )
}
