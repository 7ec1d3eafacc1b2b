import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startIssuer } from "../testing/issuer.ts";
import { askIssuer, oddAnswer } from "./issuer.ts";

const ask = (url: string) => askIssuer(fetch, url, { method: "GET", headers: {} });

it("is not read to its end when its answer has none", async () => {
  const piece = Buffer.alloc(64 * 1024, "x");
  let sent = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const write = () => {
      while (!response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once("drain", write);
      }
    };
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const answer = await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(answer).toMatchObject({ status: 200, body: {}, text: "" });
  // What the sockets hold on the way.
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});

it("tells apart a refusal, and a server that is not what it should be", async () => {
  let next: { status?: number; body: unknown } = { body: {} };
  const { url } = await startIssuer(() => next);
  const odd = async (answer: typeof next) => {
    next = answer;
    return oddAnswer(await ask(url))?.message;
  };
  expect(await odd({ status: 400, body: { error: "invalid_grant" } })).toBeUndefined();
  expect(await odd({ status: 403, body: "no" })).toBeUndefined();
  expect(await odd({ body: { error: "invalid_grant" } })).toBeUndefined();
  const head = `${url}, which gives out its credentials, `;
  expect(await odd({ body: "<html>" })).toBe(
    `${head}answered without any that can be used; see whether it is the right server`,
  );
  expect(await odd({ status: 307, body: "" })).toBe(
    `${head}sends the request on (307), but secrets go nowhere else; correct its address`,
  );
  expect(await odd({ status: 503, body: "" })).toBe(`${head}has failed (503); try again later`);
});
