import type { Client } from "../client/client.ts";

type Answer<Call extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Call>>;
export type Source = Answer<Client["sources"]["get"]>;
export type Version = Answer<Client["sources"]["versions"]>[number];
export type VersionFileChange = Answer<Client["sources"]["version"]>["changes"][number];
export type Invocation = Answer<Client["invocations"]["get"]>;
export type EventSummary = Answer<Client["events"]["list"]>["data"][number];
export type Prop = Source["configurable_props"][number];
export type Webhook = Answer<Client["webhooks"]["get"]>;
export type Delivery = Answer<Client["deliveries"]["get"]>;
export type Workflow = Answer<Client["workflows"]["get"]>;
export type WorkflowStep = Workflow["steps"][number];
export type WorkflowRun = Answer<Client["workflows"]["run"]>;
export type RunStep = Answer<Client["workflows"]["steps"]>[number];
export type RehearsedRun = Answer<Client["workflows"]["rehearse"]>[number];
export type Account = Answer<Client["accounts"]["get"]>;
