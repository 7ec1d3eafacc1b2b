import { copyFile, cp, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeMissing, findOwnGateway } from "./gateway-client.ts";
import { type GatewayFile, readGatewayFile, writeGatewayFile } from "./home/gateway-file.ts";
import { hashOfHome, newNonce, proofOfRequest, REQUEST_PROOF } from "./home/identity.ts";
import { ownProcessStart } from "./locks/process-identity.ts";
import { startTestGateway } from "./testing/gateway.ts";
import { temporaryHome } from "./testing/home.ts";

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A program that is no gateway, and everything it was sent. */
async function startStranger(answer: RequestListener) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    answer(request, response);
  });
  onTestFinished(() => server.closeAllConnections());
  return { port: await portOf(server), seen };
}

async function unusedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

const SECRET = "ab".repeat(32);
const ANOTHER_PROGRAM = { homeHash: null, isPretender: false };

/** As if a gateway in this very process listened on `port`. */
async function pretend(
  home: string,
  port: number,
  change: Partial<GatewayFile> = {},
): Promise<void> {
  const started = await ownProcessStart();
  const file = { port, pid: process.pid, started, host: hostname(), secret: SECRET };
  writeGatewayFile(home, { ...file, ...change });
}

describe("a home's own gateway", () => {
  it("is found wherever it listens, by a file that only its account may read", async () => {
    const { home, url } = await startTestGateway();
    const lookup = await findOwnGateway({ home, port: await unusedPort() });
    expect(lookup).toMatchObject({ kind: "running", gateway: { url, pid: process.pid } });
    expect((await stat(join(home, "gateway.json"))).mode & 0o777).toBe(0o600);
  });

  it("tells its home by a hash and its start, and neither its path nor its secret", async () => {
    const { home, get } = await startTestGateway();
    const text = await (await get(`/api/health?nonce=${newNonce()}`)).text();
    expect(JSON.parse(text)).toMatchObject({
      status: "ok",
      home: hashOfHome(home),
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      proof: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(text).not.toContain(home);
    expect(text).not.toContain(readGatewayFile(home)!.secret);
    expect(await (await get("/api/health?nonce=short")).json()).toMatchObject({ proof: null });
  });

  it("is found by its proof, whatever is known of its process", async () => {
    const { home, url } = await startTestGateway();
    const { place, ...file } = readGatewayFile(home)!;
    for (const change of [{ started: "long ago" }, { started: null }, { pid: 2 ** 22 + 1 }]) {
      writeGatewayFile(home, { ...file, ...change });
      const lookup = await findOwnGateway({ home, port: 0 });
      expect(lookup).toMatchObject({ kind: "running", gateway: { url } });
    }
    expect(place.folder).toBe(hashOfHome(home));
  });

  it("is found when its home was moved while it ran", async () => {
    const folder = await temporaryHome();
    await mkdir(join(folder, "before"));
    const { url } = await startTestGateway({}, join(folder, "before"));
    await rename(join(folder, "before"), join(folder, "after"));
    const lookup = await findOwnGateway({ home: join(folder, "after"), port: 0 });
    expect(lookup).toMatchObject({ kind: "running", gateway: { url } });
    await rename(join(folder, "after"), join(folder, "before"));
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ["missing", (file) => rm(file)],
    ["unreadable", (file) => writeFile(file, '{ "port": "half')],
  ])("is said to run when its file is %s", async (kind, damage) => {
    const { home, url } = await startTestGateway();
    await damage(join(home, "gateway.json"));
    const lookup = await findOwnGateway({ home, port: Number(new URL(url).port) });
    expect(lookup).toEqual({ kind: "unannounced", pid: process.pid, file: kind });
    if (lookup.kind === "unannounced")
      expect(describeMissing(lookup)).toMatch(
        `a gateway runs on this home (process ${process.pid}), but its gateway.json is ${kind};`,
      );
  });

  it("is silent, not absent, when it does not answer in time", async () => {
    const home = await temporaryHome();
    const { port } = await startStranger(() => {});
    await pretend(home, port);
    const lookup = await findOwnGateway({ home, port, patienceMs: 50 });
    expect(lookup).toMatchObject({ kind: "silent", pid: process.pid });
  });

  it("is out of reach when it runs on another machine", async () => {
    const home = await temporaryHome();
    await pretend(home, 1, { host: "attic", pid: 7 });
    const lookup = await findOwnGateway({ home, port: 1 });
    expect(lookup).toEqual({ kind: "elsewhere", host: "attic", pid: 7 });
  });

  it("is not running when its process is gone, or is another one by now", async () => {
    const home = await temporaryHome();
    const port = await unusedPort();
    for (const change of [{ pid: 2 ** 22 + 1 }, { started: "long ago" }]) {
      await pretend(home, port, change);
      expect(await findOwnGateway({ home, port })).toEqual({
        kind: "none",
        port,
        wasCopied: false,
      });
    }
    await writeFile(join(home, "gateway.json"), '{ "port": "half');
    expect(await findOwnGateway({ home, port })).toEqual({ kind: "none", port, wasCopied: false });
  });
});

describe("a home whose gateway is gone", () => {
  it("is not said to have a silent one when its port has another listener by now", async () => {
    const home = await temporaryHome();
    const silent = await startStranger(() => {});
    const port = await unusedPort();
    await pretend(home, silent.port, { pid: 2 ** 22 + 1 });
    const lookup = await findOwnGateway({ home, port, patienceMs: 50 });
    expect(lookup).toEqual({ kind: "none", port, wasCopied: false });
  });
});

describe("a copy of a home whose gateway runs", () => {
  it("leads to no gateway: neither the original's nor one of its own", async () => {
    const original = await startTestGateway();
    const copy = join(await temporaryHome(), "copy");
    await cp(original.home, copy, { recursive: true });
    const lookup = await findOwnGateway({ home: copy, port: 0 });
    expect(lookup).toEqual({ kind: "none", port: 0, wasCopied: true });
    if (lookup.kind === "none")
      expect(describeMissing(lookup)).toBe(
        "no gateway is running (its gateway.json was copied from another home)",
      );
    const port = Number(new URL(original.url).port);
    expect(await findOwnGateway({ home: copy, port })).toMatchObject({
      kind: "stranger",
      stranger: { homeHash: hashOfHome(original.home), isPretender: false },
      wasCopied: true,
    });
  });

  it("does not take the original for its own although the file's place was rewritten", async () => {
    const original = await startTestGateway();
    const home = await temporaryHome();
    const { place, ...file } = readGatewayFile(original.home)!;
    writeGatewayFile(home, file);
    expect(readGatewayFile(home)?.place).not.toEqual(place);
    expect(await findOwnGateway({ home, port: 0 })).toMatchObject({
      kind: "stranger",
      stranger: { homeHash: hashOfHome(original.home) },
    });
  });

  it("has a gateway of its own, which is found beside the original's", async () => {
    const original = await startTestGateway();
    const copy = join(await temporaryHome(), "copy");
    await cp(original.home, copy, { recursive: true });
    const { url } = await startTestGateway({}, copy);
    for (const each of [original, { home: copy, url }])
      expect(await findOwnGateway({ home: each.home, port: 0 })).toMatchObject({
        gateway: { url: each.url },
      });
    await copyFile(join(original.home, "gateway.json"), join(copy, "gateway.json"));
    const lookup = await findOwnGateway({ home: copy, port: 0 });
    expect(lookup).toEqual({ kind: "unannounced", pid: process.pid, file: "copied" });
  });
});

describe("whoever else answers on the port", () => {
  it("is named by its home when it is a gateway", async () => {
    const other = await startTestGateway();
    const port = Number(new URL(other.url).port);
    const lookup = await findOwnGateway({ home: await temporaryHome(), port });
    const stranger = { homeHash: hashOfHome(other.home), isPretender: false };
    expect(lookup).toEqual({ kind: "stranger", port, stranger, wasCopied: false });
    if (lookup.kind === "stranger")
      expect(describeMissing(lookup)).toBe(
        `another gateway (home ${hashOfHome(other.home)}) answers on port ${port}; this home's gateway is not running`,
      );
  });

  it("does not pass for ours by repeating what a gateway of this home said", async () => {
    const own = await startTestGateway();
    const said = await (await own.get(`/api/health?nonce=${newNonce()}`)).text();
    const { secret } = readGatewayFile(own.home)!;
    await own.stop();
    const { port, seen } = await startStranger((_, response) => void response.end(said));
    const stranger = { homeHash: hashOfHome(own.home), isPretender: true };
    const found = { kind: "stranger", port, stranger, wasCopied: false } as const;
    expect(describeMissing(found)).toBe(
      `a program that cannot prove to be this home's gateway answers on port ${port}; this home's gateway is not running`,
    );
    expect(await findOwnGateway({ home: own.home, port })).toEqual(found);
    await pretend(own.home, port, { secret });
    expect(await findOwnGateway({ home: own.home, port })).toEqual(found);
    expect(seen).toHaveLength(2);
    expect(seen.join("\n")).not.toContain(secret);
  });

  it.each<[string, RequestListener]>([
    ["speaks no JSON", (_, response) => void response.end("<p>hello</p>")],
    ["answers an array", (_, response) => void response.end("[1]")],
    ["names no home we could print", (_, response) => void response.end('{"home":"\u001b[2J"}')],
    ["redirects", (_, response) => void response.writeHead(302, { location: "/" }).end()],
    ["hangs up", (request) => void request.socket.destroy()],
    [
      "does not stop",
      (_, response) => {
        const write = () => {
          while (response.write("x".repeat(65_536)));
        };
        response.on("drain", write);
        write();
      },
    ],
  ])("is another program when it %s", async (_, answer) => {
    const { port } = await startStranger(answer);
    const lookup = await findOwnGateway({ home: await temporaryHome(), port });
    expect(lookup).toMatchObject({ kind: "stranger", port, stranger: ANOTHER_PROGRAM });
  });

  it("is another program when it speaks no HTTP", async () => {
    const port = await portOf(createTcpServer((socket) => void socket.end("220 mail\r\n")));
    const lookup = await findOwnGateway({ home: await temporaryHome(), port });
    expect(lookup).toMatchObject({ kind: "stranger", port, stranger: ANOTHER_PROGRAM });
  });
});

describe("a request that is meant for one gateway", () => {
  const reload = { method: "POST", path: "/api/plugins/reload" };
  const send = (url: string, proof: string) =>
    fetch(`${url}${reload.path}`, { method: "POST", headers: { [REQUEST_PROOF]: proof } });

  it("is obeyed by that one and refused by any other", async () => {
    const [own, other] = [await startTestGateway(), await startTestGateway()];
    const { secret } = readGatewayFile(own.home)!;
    expect((await send(own.url, proofOfRequest(secret, reload))).status).toBe(200);
    const refused = await send(other.url, proofOfRequest(secret, reload));
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: { message: "The request is meant for the gateway of another home." },
    });
  });

  it("cannot be made from what the gateway tells everybody, or from another request", async () => {
    const { url, home, get } = await startTestGateway();
    const nonce = newNonce();
    const health = await (await get(`/api/health?nonce=${nonce}`)).json();
    expect((await send(url, `${nonce}:${(health as { proof: string }).proof}`)).status).toBe(403);
    const { secret } = readGatewayFile(home)!;
    const other = proofOfRequest(secret, { method: "GET", path: "/api/plugins" });
    expect((await send(url, other)).status).toBe(403);
    expect((await send(url, "")).status).toBe(403);
  });
});
