// Claims a home for one gateway and tells the home's commands where it is.
import { existsSync, unlinkSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { acquireLock, isInForce, type LockOwner, readOwner } from "../locks/lock.ts";
import { ownProcessStart } from "../locks/process-identity.ts";
import { storageReason } from "../storage-reason.ts";
import {
  findGatewayFile,
  gatewayFile,
  readGatewayFile,
  removeGatewayFile,
  writeGatewayFile,
} from "./gateway-file.ts";
import { createIdentity, type GatewayIdentity } from "./identity.ts";
import { prepareHome } from "./prepare-home.ts";

/** How often a running gateway looks whether its file is still there, ms. */
const LOOK_MS = 5000;

export interface ClaimedHome {
  identity: GatewayIdentity;
  /** The home was copied while its gateway ran: files that only meant the original are replaced. */
  wasCopied: boolean;
  /**
   * To be called as soon as the gateway listens; from then on the file is written again whenever
   * somebody removes or damages it. Throws STORAGE_FAILED.
   */
  announce(port: number): void;
  release(): Promise<void>;
}

/**
 * Throws GATEWAY_RUNNING while another gateway serves the home, STORAGE_FAILED when the home cannot
 * be written. A home whose gateway was killed is free at once. `lookMs`: for tests.
 */
export async function claimHome(home: string, { lookMs = LOOK_MS } = {}): Promise<ClaimedHome> {
  await prepareHome(home);
  const file = gatewayLock(home);
  const outcome = await acquireLock(file);
  if (!outcome.held)
    throw new ContextEngineError("GATEWAY_RUNNING", whyTaken(home, file, outcome.owner));
  const { lock } = outcome;
  const wasCopied = lock.takenFrom?.isCopy === true || findGatewayFile(home).kind === "copied";
  const started = await ownProcessStart();
  const identity = createIdentity(home);
  const { secret } = identity;
  const withdraw = () => removeGatewayFile(home, secret);
  let looking: NodeJS.Timeout | undefined;
  let released = false;
  try {
    replacing(home, () => removeLeftover(home));
  } catch (error) {
    await lock.release();
    throw error;
  }
  return {
    identity,
    wasCopied,
    announce(port) {
      const write = () =>
        writeGatewayFile(home, { port, pid: process.pid, started, host: hostname(), secret });
      replacing(home, write);
      process.once("exit", withdraw);
      looking = setInterval(async () => {
        if (readGatewayFile(home)?.secret === secret || !(await lock.isHeld())) return;
        // It may have been released meanwhile.
        if (released) return;
        // A home that cannot be written is told of where something has to be written.
        attempt(write);
      }, lookMs).unref();
    },
    async release() {
      released = true;
      clearInterval(looking);
      process.removeListener("exit", withdraw);
      withdraw();
      await lock.release();
    },
  };
}

/** Who serves the home, or is about to; null when certainly nobody does. */
export async function whoClaims(home: string): Promise<LockOwner | null> {
  const owner = await readOwner(gatewayLock(home));
  return owner !== null && (await isInForce(owner)) ? owner : null;
}

/** The lock when nobody can read who made it, so that no gateway may start; null otherwise. */
export async function unreadableClaim(home: string): Promise<string | null> {
  const file = gatewayLock(home);
  return existsSync(file) && (await readOwner(file)) === null ? file : null;
}

const gatewayLock = (home: string) => join(home, "gateway.lock");

/** Whoever holds the lock is the only gateway: what lies there is nobody's. */
function removeLeftover(home: string): void {
  try {
    unlinkSync(gatewayFile(home));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function replacing(home: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw new ContextEngineError(
      "STORAGE_FAILED",
      `${gatewayFile(home)} cannot be written: ${storageReason(error)}; move it away or make room for it, and start again.`,
      { cause: error },
    );
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {}
}

function whyTaken(home: string, file: string, owner: LockOwner | null): string {
  if (owner === null)
    return `${file} cannot be read, so it is not known whether another gateway serves ${home}; delete that file if none does.`;
  const { pid, host, since } = owner;
  if (host !== hostname())
    return `The gateway of ${home} runs on ${host} (process ${pid}, since ${since}); stop it there, or delete ${file} if that machine is gone.`;
  const found = readGatewayFile(home);
  const where =
    found?.pid === pid
      ? `runs at http://127.0.0.1:${found.port} (process ${pid})`
      : `runs, or is just starting (process ${pid}, since ${since}), but its gateway.json does not say where`;
  return `The gateway of ${home} ${where}; stop that one first, or set CLEW_HOME to another folder.`;
}
