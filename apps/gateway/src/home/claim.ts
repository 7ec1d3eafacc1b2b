// Claims a home for one gateway and tells the home's commands where it is.
import { hostname } from "node:os";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { acquireLock, type LockOwner } from "../locks/lock.ts";
import { ownProcessStart } from "../locks/process-identity.ts";
import { readGatewayFile, removeGatewayFile, writeGatewayFile } from "./gateway-file.ts";
import { createIdentity, type GatewayIdentity } from "./identity.ts";
import { prepareHome } from "./prepare-home.ts";

export interface ClaimedHome {
  identity: GatewayIdentity;
  /** To be called as soon as the gateway listens. */
  announce(port: number): void;
  release(): Promise<void>;
}

/**
 * Throws GATEWAY_RUNNING while another gateway serves the home, STORAGE_FAILED when the home cannot
 * be written. A home whose gateway was killed is free at once.
 */
export async function claimHome(home: string): Promise<ClaimedHome> {
  await prepareHome(home);
  const file = join(home, "gateway.lock");
  const outcome = await acquireLock(file);
  if (!outcome.held)
    throw new ContextEngineError("GATEWAY_RUNNING", whyTaken(home, file, outcome.owner));
  const identity = createIdentity(home);
  const withdraw = () => removeGatewayFile(home, identity.secret);
  return {
    identity,
    announce(port) {
      const { secret } = identity;
      const started = ownProcessStart();
      writeGatewayFile(home, { port, pid: process.pid, started, host: hostname(), secret });
      process.once("exit", withdraw);
    },
    async release() {
      process.removeListener("exit", withdraw);
      withdraw();
      await outcome.lock.release();
    },
  };
}

function whyTaken(home: string, file: string, owner: LockOwner | null): string {
  if (owner === null)
    return `${file} cannot be read, so it is not known whether another gateway serves ${home}; delete that file if none does.`;
  const { pid, host, since } = owner;
  if (host !== hostname())
    return `The gateway of ${home} runs on ${host} (process ${pid}, since ${since}); stop it there, or delete ${file} if that machine is gone.`;
  const found = readGatewayFile(home);
  const where = found?.pid === pid ? `runs at http://127.0.0.1:${found.port}` : "is just starting";
  return `The gateway of ${home} ${where} (process ${pid}); stop that one first, or set CLEW_HOME to another folder.`;
}
