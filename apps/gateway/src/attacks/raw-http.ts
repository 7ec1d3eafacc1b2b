// Sends bytes to a port as no client would, and collects what comes back.
import { connect } from "node:net";

export interface RawAnswer {
  /** Of each answer, in order. */
  statuses: number[];
  text: string;
}

/** How long a server may be silent before it is taken to have said all, ms. */
const SILENCE_MS = 10_000;

/** Until the server closes the connection, or says nothing more for some seconds. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const socket = connect({ host: "127.0.0.1", port });
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(pieces).toString("latin1");
      const found = text.matchAll(/HTTP\/1\.[01] (\d{3}) /g);
      resolve({ statuses: [...found].map(([, status]) => Number(status)), text });
    };
    let timer = setTimeout(finish, SILENCE_MS);
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      clearTimeout(timer);
      timer = setTimeout(finish, SILENCE_MS);
    });
    socket.on("error", finish);
    socket.on("close", finish);
    socket.on("connect", () => socket.write(bytes));
  });
}

/** A request whose connection is closed behind the answer. */
export function request(
  port: number,
  line: string,
  { host = `127.0.0.1:${port}`, headers = {}, body = "" }: RequestParts = {},
): Buffer {
  const lines = [
    `${line} HTTP/1.1`,
    ...(host === null ? [] : [`Host: ${host}`]),
    "Connection: close",
    ...(body.length > 0 || /^(POST|PUT|PATCH)/.test(line)
      ? [`Content-Length: ${Buffer.byteLength(body)}`]
      : []),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return Buffer.concat([head, typeof body === "string" ? Buffer.from(body) : body]);
}

export interface RequestParts {
  /** Null: none is named. */
  host?: string | null;
  headers?: Record<string, string>;
  body?: string | Buffer;
}
