// A small S3-compatible server that checks signatures and can fail in many ways.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the next answers fail. */
export type S3Fault =
  /** An answer of this status and code. */
  | { kind: "refuse"; status: number; code: string }
  /** The connection ends after so many bytes of an object were sent. */
  | { kind: "cut"; afterBytes: number }
  /** The connection ends when the body of a request came, before or after it is stored. */
  | { kind: "hang-up"; isStored: boolean }
  /** No answer for so long, ms. */
  | { kind: "slow"; ms: number }
  /** One byte of an object, and the next one after so long, ms. */
  | { kind: "trickle"; everyMs: number };

export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  readonly keys: { accessKeyId: string; secretAccessKey: string };
  /** By their keys. */
  readonly objects: Map<string, Buffer>;
  /** As `GET key`, in order, also of those that failed. */
  readonly requests: string[];
  /** Fails so many of the next requests, all of them, or those of a method. */
  fail(fault: S3Fault, times?: number, method?: string): void;
  /** Fails nothing any more. */
  heal(): void;
  stop(): Promise<void>;
}

/** In which it asks for signatures. */
export const S3_REGION = "eu-test-1";

export async function startS3Server(): Promise<S3Server> {
  const keys = { accessKeyId: "AKIATEST", secretAccessKey: "a secret of the test server" };
  const bucket = "clew-test";
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  let faults: { fault: S3Fault; times: number; method: string | undefined }[] = [];
  const nextFault = (method: string): S3Fault | undefined => {
    const found = faults.find(
      (each) => each.times > 0 && (each.method === undefined || each.method === method),
    );
    if (found !== undefined) found.times -= 1;
    return found?.fault;
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      refuse(response, 500, "InternalError", String(error));
    });
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "" } = request;
    const url = new URL(request.url ?? "/", "http://s3");
    const key = decodeURIComponent(url.pathname.slice(bucket.length + 2));
    requests.push(`${method} ${key}`);
    const body = await bodyOf(request);
    const fault = nextFault(method);
    if (fault?.kind === "slow") await new Promise((resume) => setTimeout(resume, fault.ms));
    if (fault?.kind === "refuse") return refuse(response, fault.status, fault.code);
    const problem = checkSignature(request, { url, body, ...keys });
    if (problem !== undefined) return refuse(response, 403, problem);
    if (url.pathname.split("/")[1] !== bucket) return refuse(response, 404, "NoSuchBucket");
    if (fault?.kind === "hang-up" && !fault.isStored) return void request.socket.destroy();
    if (method === "PUT") objects.set(key, body);
    if (method === "DELETE") objects.delete(key);
    if (fault?.kind === "hang-up") return void request.socket.destroy();
    if (method === "PUT") return void response.writeHead(200).end();
    if (method === "DELETE") return void response.writeHead(204).end();
    if (method !== "GET") return refuse(response, 405, "MethodNotAllowed");
    if (key === "") return list(response, url.searchParams);
    get(request, response, { object: objects.get(key), fault });
  }
  function list(response: ServerResponse, query: URLSearchParams): void {
    const [prefix, behind] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
    const found = [...objects.keys()]
      .filter((key) => key.startsWith(prefix) && key > behind)
      .sort();
    const some = found.slice(0, Number(query.get("max-keys") ?? 1000));
    const contents = some.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("");
    response.writeHead(200, { "content-type": "application/xml" });
    response.end(`<ListBucketResult>${contents}</ListBucketResult>`);
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, bucket, keys, objects, requests },
    fail: (fault, times = 1, method = undefined) => void faults.push({ fault, times, method }),
    heal: () => {
      faults = [];
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function get(
  { headers: { range } }: IncomingMessage,
  response: ServerResponse,
  { object, fault }: { object: Buffer | undefined; fault: S3Fault | undefined },
): void {
  if (object === undefined) {
    refuse(response, 404, "NoSuchKey");
    return;
  }
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
  const from = first === undefined ? 0 : Number(first);
  if (first !== undefined && from >= object.length) {
    refuse(response, 416, "InvalidRange");
    return;
  }
  const to = last === undefined || last === "" ? object.length : Number(last) + 1;
  const wanted = object.subarray(from, to);
  response.writeHead(first === undefined ? 200 : 206, { "content-length": wanted.length });
  if (fault?.kind === "cut")
    response.write(wanted.subarray(0, fault.afterBytes), () => response.destroy());
  else if (fault?.kind === "trickle") trickle(response, wanted, fault.everyMs);
  else response.end(wanted);
}

function trickle(response: ServerResponse, bytes: Buffer, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => response.write(bytes.subarray(at, ++at)), everyMs);
  response.on("close", () => clearInterval(timer));
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

function refuse(response: ServerResponse, status: number, code: string, message = ""): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}

interface Checked {
  url: URL;
  body: Buffer;
  accessKeyId: string;
  secretAccessKey: string;
}

/** As Amazon's documents tell it; the code of what is wrong. */
function checkSignature(
  { method = "", headers }: IncomingMessage,
  { url, body, accessKeyId, secretAccessKey }: Checked,
): string | undefined {
  const [, credential = "", signed = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    ) ?? [];
  const [id, day = "", region = "", service = "", end] = credential.split("/");
  if (id !== accessKeyId) return "InvalidAccessKeyId";
  if (region !== S3_REGION) return "AuthorizationHeaderMalformed";
  if (service !== "s3" || end !== "aws4_request") return "SignatureDoesNotMatch";
  const at = String(headers["x-amz-date"] ?? "");
  if (!at.startsWith(day)) return "SignatureDoesNotMatch";
  const said = Date.parse(
    at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  if (!(Math.abs(Date.now() - said) < 15 * 60_000)) return "RequestTimeTooSkewed";
  const hash = String(headers["x-amz-content-sha256"] ?? "");
  if (hash !== createHash("sha256").update(body).digest("hex")) return "XAmzContentSHA256Mismatch";
  const names = signed.split(";");
  if (!names.includes("host") || !names.includes("x-amz-content-sha256"))
    return "SignatureDoesNotMatch";
  const query = [...url.searchParams]
    .map((pair) => pair.map(encoded).join("="))
    .sort()
    .join("&");
  const canonical = [
    ...[
      method,
      url.pathname
        .split("/")
        .map((part) => encoded(decodeURIComponent(part)))
        .join("/"),
    ],
    query,
    ...names.map((name) => `${name}:${String(headers[name] ?? "").trim()}`),
    ...["", signed, hash],
  ].join("\n");
  const text = [
    ...["AWS4-HMAC-SHA256", at, `${day}/${region}/s3/aws4_request`],
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<Buffer | string>(
    (from, part) => createHmac("sha256", from).update(part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const wanted = createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(wanted, Buffer.from(signature, "hex"))
    ? undefined
    : "SignatureDoesNotMatch";
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
