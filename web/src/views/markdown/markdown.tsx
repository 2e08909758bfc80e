// Renders Markdown as page elements. HTML in the text isn't inserted into the page as is: each element is created from
// a token, and only a fixed list of HTML elements and attributes is allowed.

import "../style/markdown.css";
import { Lexer, type Token, type Tokens } from "marked";
import { type ComponentChild, Fragment, h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

/** Maximum number of characters to display; more would take too long to parse. */
const TEXT_MAX = 1_000_000;
const TAGS = new Set(
  `a abbr b blockquote br center code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins
   kbd li mark ol p picture pre q s samp small span strike strong sub summary sup table tbody td tfoot th thead tr tt u
   ul var`.split(/\s+/),
);
const ATTRIBUTES = new Set([
  "align",
  "alt",
  "colspan",
  "height",
  "open",
  "rowspan",
  "start",
  "title",
  "width",
]);
/** The text inside these elements isn't meant to be displayed. */
const DROPPED = new Set(["script", "style", "template", "noscript", "iframe", "object", "title"]);

export interface MarkdownProps {
  text: string;
  /** Returns an image with a relative address as a `data:` URL; undefined if it can't be shown. */
  image?: ((path: string) => Promise<string | undefined>) | undefined;
  /** Called when the user clicks a link with a relative address. */
  open?: ((path: string) => void) | undefined;
}

type Links = Pick<MarkdownProps, "image" | "open">;

export function Markdown({ text, image, open }: MarkdownProps) {
  const tokens = useMemo(() => new Lexer({ gfm: true }).lex(text.slice(0, TEXT_MAX)), [text]);
  return <div class="markdown">{blocks(tokens, { image, open })}</div>;
}

function blocks(tokens: readonly Token[], links: Links): ComponentChild[] {
  return tokens.map(token => block(token, links));
}

function block(token: Token, links: Links): ComponentChild {
  switch (token.type) {
    case "heading": {
      const { depth, tokens, text } = token as Tokens.Heading;
      // The anchor isn't used as `id`, because the text could use the id of an element on the page, and two texts can
      // have the same headings.
      return h(`h${depth}`, { "data-anchor": anchorOf(text) }, inlines(tokens, links));
    }
    case "paragraph":
      return <p>{inlines((token as Tokens.Paragraph).tokens, links)}</p>;
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? <Fragment>{inlines(tokens, links)}</Fragment> : text;
    }
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable with the keyboard
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, links)}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} links={links} />;
    case "table":
      return <Table table={token as Tokens.Table} links={links} />;
    case "hr":
      return <hr />;
    case "html":
      return <Fragment>{fromHtml((token as Tokens.HTML).text, links)}</Fragment>;
    default:
      return null; // the tokens `space` and `def` produce no element
  }
}

function List({ list, links }: { list: Tokens.List; links: Links }) {
  const items = list.items.map(item => (
    <li class={item.task ? "task" : ""}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Task" />}
      {blocks(
        item.tokens.filter(({ type }) => type !== "checkbox"),
        links,
      )}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, links }: { table: Tokens.Table; links: Links }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable with the keyboard
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map(({ tokens, align }) => (
              <th style={{ textAlign: align ?? "" }}>{inlines(tokens, links)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map(row => (
            <tr>
              {row.map(({ tokens, align }) => (
                <td style={{ textAlign: align ?? "" }}>{inlines(tokens, links)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: readonly Token[] | undefined, links: Links): ComponentChild[] {
  return (tokens ?? []).map(token => inline(token, links));
}

function inline(token: Token, links: Links): ComponentChild {
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens, links)}</strong>;
    case "em":
      return <em>{inlines(token.tokens, links)}</em>;
    case "del":
      return <del>{inlines(token.tokens, links)}</del>;
    case "codespan":
      return <code>{unescaped((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "link":
      return (
        <Anchor href={(token as Tokens.Link).href} links={links}>
          {inlines(token.tokens, links)}
        </Anchor>
      );
    case "image":
      return <Picture src={(token as Tokens.Image).href} alt={(token as Tokens.Image).text} links={links} />;
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : <Fragment>{fromHtml(token.raw, links)}</Fragment>;
    default:
      return unescaped((token as Tokens.Text).text ?? "");
  }
}

/** The lexer escapes HTML characters in some tokens. */
function unescaped(text: string): string {
  return text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"' })[name] ?? "'",
  );
}

function Anchor({ href, links, children }: { href: string; links: Links; children?: ComponentChild }) {
  const where = addressOf(href);
  if (where === "outside")
    return (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    );
  if (where === "none" || (where === "inside" && !links.open)) return <Fragment>{children}</Fragment>;
  return (
    <a
      href={href}
      onClick={event => {
        event.preventDefault();
        if (where === "inside") links.open?.(href);
        else scrollTo(event.currentTarget, href.slice(1));
      }}
    >
      {children}
    </a>
  );
}

/** The target of an address: something outside the sandbox, a file, a heading, or nothing if the address isn't safe. */
export function addressOf(href: string): "outside" | "inside" | "heading" | "none" {
  if (/^(https?:|mailto:)/i.test(href)) return "outside";
  if (href.startsWith("#")) return "heading";
  return /^[a-z][a-z0-9+.-]*:|^\/\//i.test(href) ? "none" : "inside";
}

/**
 * Scrolls to the heading `anchor` in the text that contains `link`; without an anchor, scrolls to the start of the
 * text.
 */
function scrollTo(link: HTMLElement, anchor: string): void {
  const text = link.closest(".markdown");
  const headings = [...(text?.querySelectorAll<HTMLElement>("[data-anchor]") ?? [])];
  const names = [anchor, decoded(anchor)];
  const target = anchor ? headings.find(heading => names.includes(heading.dataset.anchor ?? "")) : text;
  target?.scrollIntoView();
}

/** Decodes the escapes in an anchor, such as `%C3%BC`. Links write non-ASCII letters in this form. */
export function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor; // it contains a percent sign that doesn't start an escape
  }
}

/** Returns the anchor for a heading, in the same form as on GitHub. */
export function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

interface PictureProps {
  src: string;
  alt: string;
  links: Links;
  attributes?: Record<string, string>;
}

/** The page's policy allows only images from the same origin and `data:`; other images are shown as links. */
function Picture({ src, alt, links, attributes = {} }: PictureProps) {
  const where = addressOf(src);
  const embedded = /^data:image\//i.test(src);
  const [url, setUrl] = useState(embedded ? src : undefined);
  useEffect(() => {
    let shown = true;
    if (where === "inside") void links.image?.(src).then(found => shown && setUrl(found));
    return () => {
      shown = false;
    };
  }, [src]);
  if (url) return <img {...attributes} src={url} alt={alt} />;
  if (where === "outside")
    return (
      <a class="picture" href={src} target="_blank" rel="noopener noreferrer">
        {alt || src}
      </a>
    );
  return <span class="picture">{alt || src}</span>;
}

function fromHtml(text: string, links: Links): ComponentChild[] {
  // Parsed in a separate document, where no scripts run and nothing is loaded.
  const { body } = new DOMParser().parseFromString(text, "text/html");
  return [...body.childNodes].map(node => fromNode(node, links));
}

function fromNode(node: Node, links: Links): ComponentChild {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element)) return null;
  const tag = node.localName;
  if (DROPPED.has(tag)) return null;
  const children = [...node.childNodes].map(child => fromNode(child, links));
  if (!TAGS.has(tag)) return <Fragment>{children}</Fragment>;
  const attributes = Object.fromEntries(
    [...node.attributes].filter(({ name }) => ATTRIBUTES.has(name)).map(({ name, value }) => [name, value]),
  );
  if (tag === "a")
    return (
      <Anchor href={node.getAttribute("href") ?? ""} links={links}>
        {children}
      </Anchor>
    );
  if (tag === "img")
    return (
      <Picture
        src={node.getAttribute("src") ?? ""}
        alt={node.getAttribute("alt") ?? ""}
        links={links}
        attributes={attributes}
      />
    );
  return h(tag, attributes, children);
}
