//! Which roles may use which method. A method without a row is refused.
//!
//! Roles are checked before a request is read: a caller that may not use a method learns nothing about what exists.

use foldhash::HashMap;
use toolplane_records::codes;

use super::services::Catalog;
use crate::caller::Role::{Agent, Approver, Auditor, Operator, Peer, Worker};
use crate::caller::{Role, RoleSet};
use crate::status::ApiError;

/// Health checks must work for load balancers, which have no credential.
const OPEN_TO_ALL: &str = "grpc.health.v1.Health/";

/// A method (`package.Service/Method`) and the roles that may use it; none for a service this cluster calls and does not
/// serve.
pub type Row = (&'static str, &'static [Role]);

/// Every method of the API.
pub const TABLE: &[Row] = &[
    // Declarations, surfaces, search.
    ("toolplane.v1.SurfaceService/RegisterTools", &[Operator]),
    ("toolplane.v1.SurfaceService/RetireTool", &[Operator]),
    ("toolplane.v1.SurfaceService/AddSynonyms", &[Operator]),
    ("toolplane.v1.SurfaceService/RemoveSynonyms", &[Operator]),
    ("toolplane.v1.SurfaceService/ListSynonyms", &[Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ForgetUse", &[Operator]),
    ("toolplane.v1.SurfaceService/GetTool", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ListTools", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/CreateSurface", &[Agent, Operator]),
    ("toolplane.v1.SurfaceService/ExtendSurface", &[Agent, Operator]),
    ("toolplane.v1.SurfaceService/DeleteSurface", &[Agent, Operator]),
    ("toolplane.v1.SurfaceService/LoadTools", &[Agent, Operator]),
    ("toolplane.v1.SurfaceService/UnloadTools", &[Agent, Operator]),
    ("toolplane.v1.SurfaceService/GetSurface", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ListSurfaceTools", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/WatchSurface", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ListSurfaces", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/SearchTools", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ExportSurface", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/MapCalls", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ListToolCards", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ListEvents", &[Agent, Operator, Auditor]),
    ("toolplane.v1.SurfaceService/ResolveTool", &[Peer]),
    ("toolplane.v1.SurfaceService/SyncCatalog", &[Peer]),
    // Where tools come from. What providers wrote and nobody has looked at is not for agents.
    ("toolplane.v1.ProviderService/PutProvider", &[Operator]),
    ("toolplane.v1.ProviderService/UploadDocument", &[Operator]),
    ("toolplane.v1.ProviderService/RemoveProvider", &[Operator]),
    ("toolplane.v1.ProviderService/RefreshProvider", &[Operator]),
    ("toolplane.v1.ProviderService/TestProvider", &[Operator]),
    ("toolplane.v1.ProviderService/ReviewTools", &[Operator]),
    ("toolplane.v1.ProviderService/GetProvider", &[Approver, Operator, Auditor]),
    ("toolplane.v1.ProviderService/ListProviders", &[Approver, Operator, Auditor]),
    ("toolplane.v1.ProviderService/ListProvidedTools", &[Approver, Operator, Auditor]),
    ("toolplane.v1.ProviderService/ShowTool", &[Approver, Operator, Auditor]),
    ("toolplane.v1.ProviderService/TellProviders", &[Peer]),
    // Decisions, questions, rules.
    ("toolplane.v1.PermissionService/Decide", &[Peer]),
    ("toolplane.v1.PermissionService/WithdrawApproval", &[Peer]),
    ("toolplane.v1.PermissionService/DeleteApprovals", &[Peer]),
    ("toolplane.v1.PermissionService/WatchPolicy", &[Peer]),
    ("toolplane.v1.PermissionService/ListApprovals", &[Approver, Operator, Auditor, Peer]),
    ("toolplane.v1.PermissionService/GetApproval", &[Approver, Operator, Auditor, Peer]),
    ("toolplane.v1.PermissionService/WatchApprovals", &[Approver, Operator, Auditor, Peer]),
    ("toolplane.v1.PermissionService/ResolveApproval", &[Approver]),
    ("toolplane.v1.PermissionService/ListRules", &[Approver, Operator, Auditor]),
    ("toolplane.v1.PermissionService/AddRules", &[Operator]),
    ("toolplane.v1.PermissionService/RevokeRule", &[Operator]),
    ("toolplane.v1.PermissionService/ReloadRules", &[Operator]),
    // Calls.
    ("toolplane.v1.InvocationService/Call", &[Agent]),
    ("toolplane.v1.InvocationService/Invoke", &[Agent]),
    ("toolplane.v1.InvocationService/SubmitInvocation", &[Agent]),
    ("toolplane.v1.InvocationService/InvokeBatch", &[Agent]),
    ("toolplane.v1.InvocationService/SubmitBatch", &[Agent]),
    ("toolplane.v1.InvocationService/ProvideInput", &[Agent]),
    ("toolplane.v1.InvocationService/CancelInvocation", &[Agent, Operator]),
    ("toolplane.v1.InvocationService/CancelBatch", &[Agent, Operator]),
    ("toolplane.v1.InvocationService/GetInvocation", &[Agent, Approver, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListDecisions", &[Agent, Approver, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListMutations", &[Agent, Approver, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ExplainInvocation", &[Agent, Approver, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListHooks", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/GetResult", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/WaitInvocation", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/WatchInvocation", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListInvocations", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ReadPayload", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/LinkPayload", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListOrphans", &[Operator, Auditor]),
    ("toolplane.v1.InvocationService/GetPersistence", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/GetBatch", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/WatchBatch", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListBatches", &[Agent, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListWorkers", &[Operator, Auditor, Peer]),
    ("toolplane.v1.InvocationService/ListSessionTaints", &[Agent, Approver, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ClearSessionTaints", &[Operator]),
    // Which of them may read the original of which call is said by its policy.
    ("toolplane.v1.InvocationService/ReadOriginal", &[Agent, Approver, Operator, Auditor]),
    ("toolplane.v1.InvocationService/ExportRecords", &[Operator, Auditor]),
    ("toolplane.v1.InvocationService/ListLegalHolds", &[Operator, Auditor]),
    ("toolplane.v1.InvocationService/SetLegalHold", &[Operator]),
    ("toolplane.v1.InvocationService/ClearLegalHold", &[Operator]),
    ("toolplane.v1.InvocationService/DeleteInvocations", &[Operator]),
    // Workers run the calls of every tenant.
    ("toolplane.v1.WorkerService/Work", &[Worker]),
    ("toolplane.v1.WorkerService/Heartbeat", &[Worker]),
    ("toolplane.v1.WorkerService/UploadPayload", &[Worker]),
    // Served by others, called by us.
    ("toolplane.v1.HookService/RunHook", &[]),
    ("toolplane.v1.RerankService/Rerank", &[]),
];

/// The roles of callers from outside that may use a method (`package.Service/Method`): those of its row without the ones that only
/// parts of a cluster have. Empty for a method that is the cluster's own, or that has no row.
///
/// Who asks on behalf of others, as a gateway does, is let in as a peer everywhere; so it offers nothing but what has a role here.
pub fn open_to(method: &str) -> RoleSet {
    let row = TABLE.iter().find(|(name, _)| *name == method);
    let roles = row.into_iter().flat_map(|(_, roles)| roles.iter().copied());
    roles.filter(|role| !matches!(role, Worker | Peer)).collect()
}

/// Whether a caller from outside with the roles `held` may use a method, asked by who will then ask on its behalf.
///
/// Fails with [`ApiError::PermissionDenied`] when the caller has none of the roles of [`open_to`].
pub fn check_outside(method: &str, held: RoleSet) -> Result<(), ApiError> {
    check(open_to(method), held)
}

/// The rows of one server, found by method.
#[derive(Clone, Debug)]
pub(super) struct Access {
    rows: HashMap<&'static str, RoleSet>,
    catalog: Catalog,
}

impl Access {
    pub(super) fn new(rows: &[Row], catalog: Catalog) -> Self {
        let rows = rows.iter().map(|(method, roles)| (*method, RoleSet::of(roles)));
        Self { rows: rows.collect(), catalog }
    }

    /// Whether a method is for every caller, with or without a credential.
    pub(super) fn is_open(method: &str) -> bool {
        method.starts_with(OPEN_TO_ALL)
    }

    /// Whether a caller with these roles may use the method. One that does not exist goes on, to be told so;
    /// descriptors are for callers with any role.
    pub(super) fn check(&self, method: &str, held: RoleSet) -> Result<(), ApiError> {
        let Some(roles) = self.rows.get(method) else {
            return match self.catalog.serves(method) {
                true => Err(closed()),
                false => Ok(()),
            };
        };
        check(*roles, held)
    }
}

fn check(roles: RoleSet, held: RoleSet) -> Result<(), ApiError> {
    if roles.meets(held) {
        return Ok(());
    }
    if roles.is_empty() {
        return Err(closed());
    }
    let names: Vec<&str> = roles.iter().map(Role::as_str).collect();
    Err(denied(codes::ROLE_REQUIRED, format!("this needs the role {}", names.join(" or "))))
}

fn closed() -> ApiError {
    denied(codes::METHOD_CLOSED, "no role may use this method".to_owned())
}

fn denied(reason: codes::Code, message: String) -> ApiError {
    ApiError::PermissionDenied { reason, message }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_method_has_one_row() {
        let methods: HashSet<&str> = TABLE.iter().map(|(method, _)| *method).collect();
        assert_eq!(methods.len(), TABLE.len());
    }

    #[test]
    fn what_is_the_clusters_own_is_open_to_nobody_from_outside() {
        for (method, roles) in TABLE {
            let own = roles.iter().all(|role| matches!(role, Worker | Peer));
            assert_eq!(open_to(method).is_empty(), own, "{method}");
            assert!(check_outside(method, RoleSet::of(&[Worker, Peer])).is_err(), "{method}");
            assert_eq!(check_outside(method, RoleSet::ALL).is_ok(), !own, "{method}");
        }
        assert!(check_outside("toolplane.v1.SurfaceService/NotYet", RoleSet::ALL).is_err());
        let refused = check_outside("toolplane.v1.PermissionService/ListApprovals", RoleSet::of(&[Agent, Peer]));
        let said = refused.expect_err("another role").to_string();
        assert_eq!(said, "this needs the role approver or operator or auditor");
    }

    #[test]
    fn a_served_method_without_a_row_is_closed_to_all() {
        let catalog = Catalog::of(&["a.S/M", "a.S/New", "a.S/Nobody"], &["a.S", "a.Undescribed"]);
        let access = Access::new(&[("a.S/M", &[Agent]), ("a.S/Nobody", &[])], catalog);
        let all = RoleSet::ALL;
        assert!(access.check("a.S/M", all).is_ok());
        assert_eq!(access.check("a.S/New", all).expect_err("no row").reason(), "METHOD_CLOSED");
        assert_eq!(access.check("a.S/Nobody", all).expect_err("empty row").reason(), "METHOD_CLOSED");
        assert_eq!(access.check("a.Undescribed/M", all).expect_err("no row").reason(), "METHOD_CLOSED");
        for missing in ["a.S/NotYet", "a.Other/M", "nonsense"] {
            assert!(access.check(missing, all).is_ok(), "{missing}: the services say that there is no such thing");
        }
        let refused = access.check("a.S/M", RoleSet::of(&[Auditor])).expect_err("another role");
        assert_eq!((refused.reason(), refused.to_string().as_str()), ("ROLE_REQUIRED", "this needs the role agent"));
    }
}
