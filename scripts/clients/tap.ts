// Stands between a client and whom it asks, changes nothing, and keeps what was answered.
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export interface TappedAnswer {
  method: string;
  url: string;
  status: number;
  /** As far as it came. */
  text: string;
}

export interface Tap {
  port: number;
  answers: TappedAnswer[];
  close(): void;
}

/** `port`: of this machine. */
export async function startTap(to: { port: number }): Promise<Tap> {
  const answers: TappedAnswer[] = [];
  const server = createServer((heard, response) => {
    const { method = "", url = "", headers } = heard;
    const { host: _host, ...others } = headers;
    const sent = request({ host: "127.0.0.1", port: to.port, method, path: url, headers: others });
    heard.pipe(sent);
    sent.once("response", (answer) => {
      const kept: TappedAnswer = { method, url, status: answer.statusCode ?? 0, text: "" };
      answers.push(kept);
      response.writeHead(kept.status, answer.headers);
      answer.on("data", (piece: Buffer) => {
        kept.text += String(piece);
        response.write(piece);
      });
      answer.once("end", () => response.end());
      answer.once("error", () => response.destroy());
    });
    sent.once("error", () => response.destroy());
    response.once("close", () => sent.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...{ port: (server.address() as AddressInfo).port, answers },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
