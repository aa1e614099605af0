//! Pages of an answer.

use super::*;

#[test]
fn pages_have_everything_once_in_the_order_of_one_answer() {
    let tools: Vec<Registration> = (0..57)
        .map(|n| described("n", &format!("t{n}"), ["report sales", "sales", "report of sales per week and day"][n % 3]))
        .collect();
    let catalog = catalog(&tools);
    let snapshot = catalog.index().snapshot();
    let none = Thesaurus::empty();
    for query in ["sales report", "kind:function", "report -week"] {
        let whole = super::super::search(&Everything::default(), &snapshot, &question(query, 100, &none)).unwrap();
        assert_eq!(whole.next, None);
        let (mut told, mut after): (Vec<_>, Option<Position>) = (Vec::new(), None);
        loop {
            let asked = Question { after: after.as_ref(), ..question(query, 7, &none) };
            let page = super::super::search(&Everything::default(), &snapshot, &asked).unwrap();
            assert_eq!(page.result.total_matches, whole.result.matches.len() as u64, "{query}");
            told.extend(page.result.matches);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(told, whole.result.matches, "{query}");
    }
}

#[test]
fn what_a_surface_hides_is_not_counted_and_not_in_the_way() {
    let mut tools: Vec<Registration> = (0..900).map(|n| described("hidden", &format!("a{n}"), "sales sales")).collect();
    tools.extend((0..600).map(|n| described("shown", &format!("b{n}"), "something about sales")));
    let catalog = catalog(&tools);
    let of = |namespace: &str, names: Vec<String>| {
        let base = SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Turn);
        let request = SurfaceRequest { namespaces: vec![namespace.to_owned()], tool_refs: names, ..base };
        made(&catalog, &request)
    };
    let found = search(&of("shown", Vec::new()), &catalog, "sales", 5);
    assert_eq!((found.matches.len(), found.total_matches, found.more_matches), (5, 200, true));
    assert!(found.found.iter().all(|tool| tool.name.starts_with("shown.")));
    let few = search(&of("nobody", vec!["shown.b7".to_owned()]), &catalog, "sales", 5);
    assert_eq!((names(&few.found), few.total_matches, few.more_matches), (vec!["shown.b7"], 1, false));
}
