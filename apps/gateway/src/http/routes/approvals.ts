// Lists what turns wait for over HTTP, and takes answers.
import type { Hono } from "hono";
import {
  type Approval,
  type ApprovalAnswer,
  ASK_ANSWERS,
  describeEnd,
} from "../../approvals/approval.ts";
import type { Gateway } from "../../gateway.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse } from "../errors.ts";
import { askOthers } from "./ask-others.ts";
import { answered } from "./elsewhere.ts";

export function addApprovalRoutes(app: Hono, gateway: Gateway, callers: Callers): void {
  const { cluster } = gateway;
  app.get("/api/approvals", async (context) => {
    const session = context.req.query("session");
    const key = session === undefined ? undefined : gateway.canonicalKey(session);
    const mayAnswer = personAt(callers.of(context)) !== undefined;
    const others = await Promise.all(
      (await askOthers(context, { cluster, callers })).map((asked) => asked.then(pendingIn, none)),
    );
    const approvals = [...gateway.approvals.pending(key), ...others.flat()].sort(byTime);
    return context.json({ approvals, mayAnswer });
  });

  app.get("/api/approvals/link", (context) =>
    personAt(callers.of(context)) === undefined
      ? refuse(context, "FORBIDDEN", UNTRUSTED)
      : context.json({ link: callers.link() }),
  );

  app.post("/api/approvals/:id/:answer", async (context) => {
    const { id, answer } = context.req.param();
    if (!isAnswer(answer)) {
      const message = `"${answer}" is no answer; say ${ASK_ANSWERS.join(", ")}.`;
      return refuse(context, "REQUEST_INVALID", message);
    }
    const at = personAt(callers.of(context));
    if (at === undefined) return refuse(context, "FORBIDDEN", UNTRUSTED);
    const isChat = at === "command" && context.req.query("from") === "chat";
    const outcome = gateway.approvals.answer(id, answer, isChat ? "chat" : at);
    if (outcome.kind === "unknown") {
      const asked = await askOthers(context, { cluster, callers });
      const known = await Promise.any(asked.map((each) => each.then(requireKnown))).catch(none);
      if (known instanceof Response) return answered(known);
      const message = `No turn waits for approval "${id}": it is over since long, or the gateway was restarted meanwhile.`;
      return refuse(context, "NOT_FOUND", message);
    }
    const { approval, end } = outcome;
    if (outcome.kind === "over") {
      const message = `Approval "${id}" is over: ${describeEnd(end)}.`;
      return refuse(context, "APPROVAL_OVER", message);
    }
    return context.json({ approval, end, text: `${approval.name}: ${describeEnd(end)}` });
  });
}

const UNTRUSTED =
  "Who answers has to be the person of this home: open the link that clew approvals link prints, send the token of gateway.auth.token (Authorization: Bearer), or use clew approvals answer.";

/** Of a gateway that does not answer nobody knows what waits there. */
const none = () => [];

const pendingIn = async (answer: Response): Promise<Approval[]> =>
  answer.status === 200 ? ((await answer.json()) as { approvals: Approval[] }).approvals : [];

const byTime = (a: Approval, b: Approval): number => a.askedAt.localeCompare(b.askedAt);

async function requireKnown(answer: Response): Promise<Response> {
  if (answer.ok || answer.status === 409) return answer;
  await answer.body?.cancel();
  throw new Error("It is none of this gateway's turns that waits for it.");
}

const isAnswer = (text: string): text is ApprovalAnswer =>
  (ASK_ANSWERS as readonly string[]).includes(text);
