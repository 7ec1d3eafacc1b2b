import { generateKeyPairSync, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SCOPES } from "../config/gateway-auth.ts";
import type { HandedRequest, LetIn } from "./let-in.ts";
import { createNumbersOnce } from "./numbers-once.ts";
import { createPeers, type Peer } from "./peers.ts";

/** Gateways of one storage, by which `ask` tells who lives. */
function cluster(count: number) {
  const living: Peer[] = [];
  let questions = 0;
  const ask = async () => {
    questions++;
    return [...living];
  };
  const join = () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const [id, address] = [randomUUID(), `http://10.0.0.${living.length}:18790`];
    const text = publicKey.export({ format: "der", type: "spki" }).toString("base64");
    living.push({ id, address, publicKey: text });
    const signer = { nodeId: id, privateKey };
    return { id, address, peers: createPeers({ signer, address, ask }) };
  };
  const gateways = Array.from({ length: count }, join);
  return { gateways, living, join, questions: () => questions };
}

const MESSAGE = { method: "POST", target: "/api/sessions/main/messages" };
const ADMIN: LetIn = { scope: "admin", person: "page" };

describe("whom a gateway let in", () => {
  it("is believed by the gateway that is asked, with these rights", () => {
    const [one, two] = cluster(2).gateways;
    return fc.assert(
      fc.asyncProperty(
        fc.record({
          scope: fc.constantFrom(...SCOPES),
          person: fc.constantFrom("page", "http", "command", undefined),
        }),
        fc.record({ method: fc.constantFrom("GET", "POST"), target: fc.webPath() }),
        async (letIn, asked) => {
          const given = one!.peers.vouch(letIn, { ...asked, to: two!.address });
          expect(await two!.peers.letIn(given, asked)).toEqual(letIn);
        },
      ),
    );
  });

  it("is believed once", async () => {
    const [one, two] = cluster(2).gateways;
    const given = one!.peers.vouch(ADMIN, { ...MESSAGE, to: two!.address });
    expect(await two!.peers.letIn(given, MESSAGE)).toEqual(ADMIN);
    expect(await two!.peers.letIn(given, MESSAGE)).toBeUndefined();
  });

  it("is believed by no other gateway, and for no other request", async () => {
    const [one, two, three] = cluster(3).gateways;
    const vouch = (asked: HandedRequest) => one!.peers.vouch(ADMIN, asked);
    const to = two!.address;
    expect(await three!.peers.letIn(vouch({ ...MESSAGE, to }), MESSAGE)).toBeUndefined();
    for (const other of [
      { ...MESSAGE, method: "DELETE" },
      { ...MESSAGE, target: "/api/sessions/other/messages" },
      { ...MESSAGE, target: `${MESSAGE.target}?limit=1` },
    ])
      expect(await two!.peers.letIn(vouch({ ...other, to }), MESSAGE)).toBeUndefined();
  });

  it("is not believed where a letter of it was changed", async () => {
    const [one, two] = cluster(2).gateways;
    const letIn: LetIn = { scope: "read" };
    const given = one!.peers.vouch(letIn, { ...MESSAGE, to: two!.address });
    const changed = [...given].map((letter, at) => {
      const other = letter === "a" ? "b" : "a";
      return `${given.slice(0, at)}${other}${given.slice(at + 1)}`;
    });
    changed.push(given.replace(":read::", ":admin:page:"), given.replace(":read:", ":admin:"));
    for (const wrong of [...changed, "", "1", `${given}a`, `${given}:`]) {
      if (wrong.split(":")[0] !== one!.id) continue;
      const found = await two!.peers.letIn(wrong, MESSAGE);
      // The last letter of a signature has bits that say nothing.
      if (found !== undefined)
        expect([found, wrong.slice(0, -1)]).toEqual([letIn, given.slice(0, -1)]);
    }
  });

  it("is not believed by the key of another gateway, of one that does not live, or of nobody", async () => {
    const { gateways, living, join } = cluster(2);
    const [one, two] = gateways;
    const to = two!.address;
    const stranger = generateKeyPairSync("ed25519").privateKey;
    const asked = { ...MESSAGE, to };
    for (const nodeId of [one!.id, randomUUID()]) {
      const peers = createPeers({
        ...{ signer: { nodeId, privateKey: stranger }, address: one!.address },
        ask: async () => living,
      });
      expect(await two!.peers.letIn(peers.vouch(ADMIN, asked), MESSAGE)).toBeUndefined();
    }
    const dead = join();
    living.pop();
    expect(await two!.peers.letIn(dead.peers.vouch(ADMIN, asked), MESSAGE)).toBeUndefined();
  });

  it("is asked about once for all who come from gateways that nobody knows yet", async () => {
    const { gateways, join, questions } = cluster(2);
    const [one, two] = gateways;
    const asked = { ...MESSAGE, to: two!.address };
    const letIn = (from: { peers: typeof one }["peers"]) =>
      two!.peers.letIn(from!.peers.vouch(ADMIN, asked), MESSAGE);
    expect(await Promise.all([letIn(one), letIn(one), letIn(one)])).toEqual([ADMIN, ADMIN, ADMIN]);
    expect(questions()).toBe(1);
    expect(await letIn(one)).toEqual(ADMIN);
    expect(questions()).toBe(1);
    const three = join();
    expect(await Promise.all([letIn(three), letIn(three), letIn(one)])).toEqual([
      ...[ADMIN, ADMIN, ADMIN],
    ]);
    expect(questions()).toBe(2);
  });
});

describe("the numbers of a sender", () => {
  it("are taken once each, in whatever order they come, unless they are far behind", () =>
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 200 }), (numbers) => {
        const once = createNumbersOnce({ window: 10 });
        const taken = new Set<number>();
        for (const number of numbers) {
          const isOld = number <= Math.max(0, ...taken) - 10;
          expect(once.take("a", number)).toBe(!isOld && !taken.has(number));
          if (!isOld) taken.add(number);
        }
      }),
    ));
});
