import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRelay } from "./relay.ts";

/** A model server that says what it was asked. */
async function server() {
  const asked: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const listening = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    asked.push({ url: request.url ?? "", headers: request.headers, body });
    response.writeHead(429, { "content-type": "text/plain", "retry-after": "7" });
    response.write("first ");
    response.end("second");
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listening.close());
  const { port } = listening.address() as AddressInfo;
  return { asked, baseUrl: `http://127.0.0.1:${port}/v1` };
}

async function relayTo(baseUrl: string) {
  const relay = createRelay();
  onTestFinished(() => relay.close());
  let signedIn = 0;
  const place = await relay.open({
    ...{ baseUrl, signInHeaders: async () => ({ Authorization: `Bearer real-${++signedIn}` }) },
  });
  const ask = (key: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
    fetch(`${place.baseUrl}/responses?x=1`, { method: "POST", body: "{}", headers });
  return { relay, place, ask };
}

describe("the relay of programs", () => {
  it("asks the model in their place with the gateway's own key, and hands the answer back", async () => {
    const { asked, baseUrl } = await server();
    const { place, ask } = await relayTo(baseUrl);
    for (const headers of [undefined, { "x-api-key": place.key, "x-more": "kept" }]) {
      const answer = await ask(place.key, headers);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
      expect(await answer.text()).toBe("first second");
    }
    expect(asked.map(({ url, body }) => [url, body])).toEqual(
      Array.from({ length: 2 }, () => ["/v1/responses?x=1", "{}"]),
    );
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([
      ...["Bearer real-1", "Bearer real-2"],
    ]);
    expect(asked[1]?.headers).toMatchObject({ "x-more": "kept" });
    expect(JSON.stringify(asked)).not.toContain(place.key);
  });

  it("knows no other key, nor one that was given back", async () => {
    const { asked, baseUrl } = await server();
    const { place, ask } = await relayTo(baseUrl);
    expect((await ask("real-1")).status).toBe(401);
    place.close();
    const refused = await ask(place.key);
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining("key")]);
    expect(asked).toEqual([]);
  });

  it("says that a server is not there", async () => {
    const { place, ask } = await relayTo("http://127.0.0.1:9/v1");
    const refused = await ask(place.key);
    expect(refused.status).toBe(502);
    expect(await refused.text()).toContain("Clew could not ask the model: ");
  });
});
