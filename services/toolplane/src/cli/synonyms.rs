//! `toolplane synonyms`: words that mean the same when tools are searched.

use clap::{Args, Subcommand};
use serde_json::json;
use toolplane_proto::v1;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, instant};
use super::spelled::word;

/// What can be done with synonyms.
#[derive(Debug, Subcommand)]
pub(crate) enum SynonymsCommand {
    /// Say that words, or phrases of up to four words, mean the same. Searches know it at once, in every process.
    Add(AddArgs),
    /// Take words out of every group that has all of them; a group that one word is left of goes.
    Rm {
        /// The words; a phrase in quotation marks.
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// List them: those of the configuration, then those that were added.
    #[command(alias = "ls")]
    List {
        /// Only groups with this word or phrase.
        #[arg(default_value = "")]
        word: String,
    },
}

/// A new group.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The words, 2 to 32; a phrase in quotation marks.
    #[arg(required = true, num_args = 2..)]
    words: Vec<String>,
    /// Who adds them; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: SynonymsCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        SynonymsCommand::Add(AddArgs { words, who }) => {
            let groups = vec![v1::SynonymGroup { words, ..Default::default() }];
            let request = v1::AddSynonymsRequest { groups, by: who };
            let added = connection.surfaces().add_synonyms(request).await?.into_inner().added;
            show(&added, out, "they were added before")?;
        }
        SynonymsCommand::Rm { words } => {
            let request = v1::RemoveSynonymsRequest { words };
            let answer = connection.surfaces().remove_synonyms(request).await?.into_inner();
            if !out.json() {
                out.note(&format!(
                    "taken out of {}; groups that stay: {}",
                    groups(answer.before.len()),
                    answer.after.len()
                ))?;
            }
            show(&answer.after, out, "")?;
        }
        SynonymsCommand::List { word } => list(word, connection, out).await?,
    }
    Ok(CommandOutcome::Done)
}

async fn list(word: String, connection: &Connection, out: &mut Output) -> Result<(), Failure> {
    let mut request = v1::ListSynonymsRequest { word, page_size: 1000, page_token: String::new() };
    let mut groups = Vec::new();
    loop {
        let page = connection.surfaces().list_synonyms(request.clone()).await?.into_inner();
        groups.extend(page.groups);
        if page.next_page_token.is_empty() {
            show(&groups, out, "no words were said to mean the same")?;
            if page.starter_set && !out.json() {
                out.note("the starter set counts beside them; it is not listed")?;
            }
            return Ok(());
        }
        request.page_token = page.next_page_token;
    }
}

fn groups(count: usize) -> String {
    if count == 1 { "1 group".to_owned() } else { format!("{count} groups") }
}

/// Shows groups; where there are none, says so.
fn show(groups: &[v1::SynonymGroup], out: &mut Output, none: &str) -> Result<(), Failure> {
    let origin = |group: &v1::SynonymGroup| word(group.origin().as_str_name(), "SYNONYM_ORIGIN_");
    if out.json() {
        return groups.iter().try_for_each(|group| {
            let at = group.added_at.map(|_| instant(group.added_at.as_ref()));
            let by = Some(&group.added_by).filter(|by| !by.is_empty());
            out.serialized(&json!({ "words": group.words, "origin": origin(group), "added_at": at, "added_by": by }))
        });
    }
    if groups.is_empty() && none.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["WORDS", "FROM", "ADDED", "BY"]);
    for group in groups {
        let added = group.added_at.as_ref().map_or("-".to_owned(), |at| age(Some(at)));
        let by = if group.added_by.is_empty() { "-".to_owned() } else { group.added_by.clone() };
        table.row([group.words.join(", "), origin(group), added, by]);
    }
    out.table(&table, none)
}
