// A loopback server that gives out credentials, for tests.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface IssuerRequest {
  /** With the query. */
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/** Answers each request by `answer`; keeps what was asked. */
export async function startIssuer(
  answer: (request: IssuerRequest) => { status?: number; body: unknown },
): Promise<{ url: string; requests: IssuerRequest[] }> {
  const requests: IssuerRequest[] = [];
  const server = createServer((incoming, response) => {
    let body = "";
    incoming.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    incoming.on("end", () => {
      const request = { path: incoming.url ?? "", headers: incoming.headers, body };
      requests.push(request);
      const { status = 200, body: said } = answer(request);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof said === "string" ? said : JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
