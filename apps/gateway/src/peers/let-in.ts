// Says who was let in by a gateway, so that another one believes it, once.
import { type KeyObject, sign, verify } from "node:crypto";
import type { AnsweredAt } from "../approvals/approval.ts";
import { SCOPES, type Scope } from "../config/gateway-auth.ts";

/** Whom a gateway let in. */
export interface LetIn {
  scope: Scope;
  /** Where the person of the home answers from. Absent: it may be anybody else. */
  person?: AnsweredAt | undefined;
}

/** The request that a gateway hands on. */
export interface HandedRequest {
  /** Address of the gateway that is to answer. */
  to: string;
  method: string;
  /** Its path and query. */
  target: string;
}

export interface Signer {
  /** Of the gateway that signs. */
  nodeId: string;
  privateKey: KeyObject;
}

/** As it is written, without its signature. */
interface Said {
  nodeId: string;
  /** Another one for each request of this gateway. */
  number: number;
  letIn: LetIn;
}

/** Pure. It holds for this request alone. */
export function vouchFor(
  { letIn, number }: { letIn: LetIn; number: number },
  { signer, asked }: { signer: Signer; asked: HandedRequest },
): string {
  const said = write({ nodeId: signer.nodeId, number, letIn });
  return `${said}:${sign(null, statement(said, asked), signer.privateKey).toString("base64url")}`;
}

/** Pure. Undefined: it is not written as gateways write it. Nothing of it is proven yet. */
export function readVouched(text: string): Said | undefined {
  const [, nodeId, number, scope, person] = WRITTEN.exec(text) ?? [];
  if (nodeId === undefined || !isScope(scope)) return undefined;
  const letIn = { scope, ...(isPlace(person) && { person }) };
  return { nodeId, number: Number(number), letIn };
}

/** Pure. Whether the gateway that has the other half of this key says so. */
export function isVouched(
  text: string,
  { asked, publicKey }: { asked: HandedRequest; publicKey: KeyObject },
): boolean {
  const end = text.lastIndexOf(":");
  const signature = Buffer.from(text.slice(end + 1), "base64url");
  return verify(null, statement(text.slice(0, end), asked), publicKey, signature);
}

const WRITTEN = /^([0-9a-f-]{36}):(\d{1,15}):([a-z]+):([a-z]*):[\w-]{86}$/;

const write = ({ nodeId, number, letIn: { scope, person } }: Said): string =>
  `${nodeId}:${number}:${scope}:${person ?? ""}`;

const statement = (said: string, { to, method, target }: HandedRequest): Buffer =>
  Buffer.from(JSON.stringify(["clew let in", said, to, method, target]));

const isScope = (text: string | undefined): text is Scope =>
  (SCOPES as readonly (string | undefined)[]).includes(text);

/** Whom a request may come from. */
const PLACES: readonly (string | undefined)[] = ["page", "http", "command"] satisfies AnsweredAt[];
const isPlace = (text: string | undefined): text is AnsweredAt => PLACES.includes(text);
