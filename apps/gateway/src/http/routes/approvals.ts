// Lists what turns wait for over HTTP, and takes answers.
import type { Hono } from "hono";
import { type ApprovalAnswer, ASK_ANSWERS, describeEnd } from "../../approvals/approval.ts";
import type { Gateway } from "../../gateway.ts";
import { type Callers, personAt } from "../access/caller.ts";
import { refuse } from "../errors.ts";

export function addApprovalRoutes(app: Hono, gateway: Gateway, callers: Callers): void {
  app.get("/api/approvals", (context) => {
    const session = context.req.query("session");
    const key = session === undefined ? undefined : gateway.canonicalKey(session);
    const mayAnswer = personAt(callers.of(context)) !== undefined;
    return context.json({ approvals: gateway.approvals.pending(key), mayAnswer });
  });

  app.get("/api/approvals/link", (context) =>
    personAt(callers.of(context)) === undefined
      ? refuse(context, "FORBIDDEN", UNTRUSTED)
      : context.json({ link: callers.link() }),
  );

  app.post("/api/approvals/:id/:answer", (context) => {
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

const isAnswer = (text: string): text is ApprovalAnswer =>
  (ASK_ANSWERS as readonly string[]).includes(text);
