// What tests against a cluster share: a namespace of their own in which everything may run, and clients for what the package has not.

import { credentials } from "@grpc/grpc-js";
import { randomBytes } from "node:crypto";

import { connect } from "toolplane";
import { GetInvocationRequest, InvocationServiceClient } from "toolplane/v1/invocation_service";
import { PermissionServiceClient } from "toolplane/v1/permission_service";
import { ProviderServiceClient } from "toolplane/v1/provider_service";
import { AddRulesRequest } from "toolplane/v1/permission_service";
import { Behavior } from "toolplane/v1/vocabulary";

export const ENDPOINT = process.env.TOOLPLANE_ENDPOINT;
/** How long a lease of the cluster lasts. */
export const LEASE_MS = Number(process.env.TOOLPLANE_TEST_LEASE_MS ?? 15_000);
/** How long anything may take on a slow machine. */
export const PATIENCE_MS = 60_000;

const target = new URL(ENDPOINT ?? "http://127.0.0.1:7420").host;
export const permissions = new PermissionServiceClient(target, credentials.createInsecure());
const invocations = new InvocationServiceClient(target, credentials.createInsecure());
export const providers = new ProviderServiceClient(target, credentials.createInsecure());

/** A request of a client as a promise. */
export const asked = (client, method, request) =>
  new Promise((resolve, reject) => {
    client[method](request, (error, answer) => (error ? reject(error) : resolve(answer)));
  });

/** What the one execution of a call is called elsewhere. */
export async function executedAs(invocationId) {
  const request = GetInvocationRequest.fromPartial({ invocationId, includeTrail: true });
  const { trail } = await asked(invocations, "getInvocation", request);
  return trail.executions[0].nativeIds;
}

/** A namespace of tools that may all be called. */
export async function namespace() {
  const name = `sdkts_${randomBytes(4).toString("hex")}`;
  const rules = [{ behavior: Behavior.BEHAVIOR_ALLOW, matcher: `${name}.*`, source: "command", reason: "tools of a test" }];
  await asked(permissions, "addRules", AddRulesRequest.fromPartial({ rules }));
  return name;
}

/** Tools over a connection that ends with the test. */
export async function open(test, options = {}) {
  const tools = await connect(options);
  test.after(() => tools.close());
  return tools;
}

/** Asks again and again until there is an answer: for what nobody tells. */
export async function eventually(what, look) {
  const late = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > late) throw new Error(`never: ${what}`);
    await new Promise((soon) => setTimeout(soon, 20));
  }
}
