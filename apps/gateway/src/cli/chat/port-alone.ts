// Holds the session of a chat in the chat's own process.

import { defaultAgentId } from "../../config/agent.ts";
import type { Environment } from "../../config/environment.ts";
import { createGateway } from "../../create-gateway.ts";
import { createIdentity, proofOfRequest, REQUEST_PROOF } from "../../home/identity.ts";
import { prepareHome } from "../../home/prepare-home.ts";
import { createCallers } from "../../http/access/caller.ts";
import { createApp } from "../../http/app.ts";
import { startPlugins } from "../../plugins/start.ts";
import type { StrayErrors } from "../../plugins/stray-errors.ts";
import { describeThrown } from "../../plugins/stray-errors.ts";
import type { Output } from "../../terminal/output.ts";
import { VERSION } from "../../version.ts";
import { legacyInstead } from "../missing-engine.ts";
import { type Overrides, setUp } from "../setup.ts";
import { waitForMemory, waitForSessions } from "../wait-for-rest.ts";
import type { ChatPort } from "./port.ts";

export interface AloneRequest {
  environment: Environment;
  overrides: Overrides;
  /** Where warnings go. */
  output: Output;
  strayErrors?: StrayErrors | undefined;
}

/** The app listens nowhere; what it is told of its place only has to fit itself. */
const PORT = 1;

/** Throws CONFIG_INVALID, ENGINE_NOT_FOUND and what a home refuses. */
export async function openAlone(request: AloneRequest): Promise<ChatPort> {
  const { overrides, strayErrors } = request;
  const { environment, loaded, log } = await setUp(
    { environment: request.environment, output: request.output },
    overrides,
    { showProblems: true, showsTurns: true },
  );
  await prepareHome(environment.home);
  // Whoever is talking goes on talking.
  strayErrors?.onHostError((error) =>
    log.error(`an error of Clew itself that nothing handled: ${describeThrown(error)}`),
  );
  const plugins = await startPlugins({ environment, loaded, log });
  const onMissingEngine = legacyInstead(overrides, log);
  const gateway = createGateway({ environment, loaded, log, plugins, onMissingEngine });
  const identity = createIdentity(environment.home);
  const port = () => PORT;
  const app = createApp({
    ...{ gateway, log, port, identity, version: VERSION, page: new Map() },
    settings: loaded.config.gateway,
    callers: createCallers({ identity, tokens: [], port }),
  });
  const leave = gateway.approvals.attach({ canAnswer: true, asked: () => {}, over: () => {} });
  plugins.startServices();
  const origin = `http://127.0.0.1:${PORT}`;
  return {
    place: null,
    folder: gateway.host.workspace(defaultAgentId(loaded.config)),
    async fetch(path, init = {}) {
      const { pathname } = new URL(path, origin);
      const { method = "GET" } = init;
      const headers = new Headers(init.headers);
      headers.set("host", `127.0.0.1:${PORT}`);
      headers.set(REQUEST_PROOF, proofOfRequest(identity.secret, { method, path: pathname }));
      return app.fetch(new Request(`${origin}${path}`, { ...init, headers }));
    },
    resume: (key) => gateway.waiting.resume(key),
    async answer(id, answer) {
      const { kind } = gateway.approvals.answer(id, answer, "chat");
      return kind === "counted" ? null : "Somebody else was faster.";
    },
    async close(output, leaving) {
      try {
        await waitForSessions(gateway, output, leaving);
        await waitForMemory(gateway, output, leaving);
      } finally {
        leave();
        await gateway.close();
        log.close();
      }
    },
  };
}
