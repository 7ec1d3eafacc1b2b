// Knows the other gateways of the same storage, and whom they let in.
import { createPublicKey, type KeyObject } from "node:crypto";
import { setTimeout as after } from "node:timers/promises";
import {
  type HandedRequest,
  isVouched,
  type LetIn,
  readVouched,
  type Signer,
  vouchFor,
} from "./let-in.ts";
import { createNumbersOnce } from "./numbers-once.ts";

/** A gateway that lives. */
export interface Peer {
  id: string;
  address: string;
  /** By which others know what it signs: SPKI in base64. */
  publicKey: string;
}

export interface Peers {
  /** What proves to the gateway that is asked whom this one let in; for one request. */
  vouch(letIn: LetIn, asked: HandedRequest): string;
  /**
   * Whom another gateway let in; undefined: none that lives proves it, or it was said before.
   * Rejects where it cannot be asked who lives.
   */
  letIn(given: string, asked: Omit<HandedRequest, "to">): Promise<LetIn | undefined>;
  /** Addresses of the others that live. */
  others(): Promise<string[]>;
}

export interface PeersOptions {
  signer: Signer;
  /** Of this gateway. */
  address: string;
  /** All that live. */
  ask(): Promise<readonly Peer[]>;
}

/** For so long it is not asked again who lives, ms. */
const KEPT_MS = 10_000;
/** Between two questions about somebody who is not known, ms. */
const AGAIN_MS = 250;

export function createPeers({ signer, address, ask }: PeersOptions): Peers {
  const once = createNumbersOnce();
  let keys: ReadonlyMap<string, KeyObject> = new Map();
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;
  let number = 0;

  const learn = async () => {
    await after(Math.max(0, askedAt + AGAIN_MS - performance.now()));
    const living = await ask();
    askedAt = performance.now();
    keys = new Map(living.map(({ id, publicKey }) => [id, keyOf(publicKey)]));
    once.forgetAllBut(keys);
  };
  const keyOfNode = async (id: string): Promise<KeyObject | undefined> => {
    if (!keys.has(id) || performance.now() - askedAt > KEPT_MS) {
      asking ??= learn().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    return keys.get(id);
  };
  return {
    vouch(letIn, asked) {
      number++;
      return vouchFor({ letIn, number }, { signer, asked });
    },
    async letIn(given, asked) {
      const said = readVouched(given);
      const publicKey = said && (await keyOfNode(said.nodeId));
      if (said === undefined || publicKey === undefined) return undefined;
      if (!isVouched(given, { asked: { ...asked, to: address }, publicKey })) return undefined;
      return once.take(said.nodeId, said.number) ? said.letIn : undefined;
    },
    others: async () =>
      (await ask()).flatMap((peer) => (peer.id === signer.nodeId ? [] : [peer.address])),
  };
}

const keyOf = (text: string): KeyObject =>
  createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
