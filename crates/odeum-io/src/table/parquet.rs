//! The result as Parquet: plain columns without compression, in row groups.

use super::{Column, Columns, Values};
use crate::parallel;
use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut,
};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group.
const GROUP: usize = 131_072;

/// Writes a table, in groups of rows, whose columns are made by up to `threads` threads.
pub fn write<R: Sync>(
    table: &Columns<'_, R>,
    threads: usize,
    file: &mut (impl Write + Send),
) -> io::Result<()> {
    write_groups(table, threads, file).map_err(io::Error::other)
}

fn write_groups<R: Sync>(
    table: &Columns<'_, R>,
    threads: usize,
    file: &mut (impl Write + Send),
) -> Result<(), ParquetError> {
    let fields: Result<_, _> = table.columns.iter().map(|c| field(c).map(Arc::new)).collect();
    let schema = Arc::new(Type::group_type_builder("odeum").with_fields(fields?).build()?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties(table)))?;
    let descriptions = writer.schema_descr().columns().iter().map(Arc::clone);
    let columns: Vec<_> = table.columns.iter().zip(descriptions).collect();
    let properties = Arc::clone(writer.properties());
    for first in (0..table.rows).step_by(GROUP) {
        let rows = first..(first + GROUP).min(table.rows);
        let rows: Vec<R> = rows.map(&table.row).collect();
        let encoded = parallel::map(threads, 1, &columns, |(column, description)| {
            Some(encode(column, (Arc::clone(description), Arc::clone(&properties)), &rows))
        });
        let mut group = writer.next_row_group()?;
        for column in encoded.into_iter().flatten() {
            let (bytes, closed) = column?;
            group.append_column(&bytes, closed)?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Numbers that all differ fill a dictionary in vain.
fn properties<R>(table: &Columns<'_, R>) -> WriterProperties {
    let properties = WriterProperties::builder().set_created_by(created_by());
    let is_real =
        |column: &&Column<'_, R>| matches!(column.values, Values::Real(_) | Values::Single(_));
    let reals = table.columns.iter().filter(is_real);
    let plain = reals.fold(properties, |properties, column| {
        let path = ColumnPath::new(vec![column.name.clone()]);
        properties.set_column_dictionary_enabled(path, false)
    });
    plain.build()
}

fn field<R>(column: &Column<'_, R>) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.values {
        Values::Whole(_) => (Physical::INT64, None),
        Values::Real(_) => (Physical::DOUBLE, None),
        Values::Single(_) => (Physical::FLOAT, None),
        Values::Word(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(logical)
        .build()
}

/// The values of some rows as they lie in a group, and what is said of them there.
fn encode<R>(
    column: &Column<'_, R>,
    (description, properties): (ColumnDescPtr, WriterPropertiesPtr),
    rows: &[R],
) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut bytes = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut bytes));
    let mut sink = get_column_writer(description, properties, pages);
    match &column.values {
        Values::Whole(value) => put::<Int64Type, R>(rows, value, &mut sink),
        Values::Real(value) => put::<DoubleType, R>(rows, value, &mut sink),
        Values::Single(value) => put::<FloatType, R>(rows, value, &mut sink),
        Values::Word(value) => {
            put::<ByteArrayType, R>(rows, |row| ByteArray::from(value(row)), &mut sink)
        }
    }?;
    let closed = sink.close()?;
    Ok((Bytes::from(bytes.into_inner()?), closed))
}

fn put<D: DataType, R>(
    rows: &[R],
    value: impl Fn(&R) -> D::T,
    sink: &mut ColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let values: Vec<D::T> = rows.iter().map(value).collect();
    get_typed_column_writer_mut::<D>(sink).write_batch(&values, None, None)?;
    Ok(())
}

fn created_by() -> String {
    format!("odeum {}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn columns_of_all_groups_are_read_back() {
        let rows = GROUP + 5;
        let mut table = Columns::new(rows, |r| r as f64);
        table.whole("whole", |r| *r as i64);
        table.number("real", |r| r / 7.0);
        table.number("single", |r| *r as f32);
        table.word("word", |_| "success");
        let mut one = Vec::new();
        write(&table, 1, &mut one).unwrap();
        let mut file = Vec::new();
        write(&table, 3, &mut file).unwrap();
        assert!(file == one, "the threads are seen");
        let reader = SerializedFileReader::new(Bytes::from(file)).unwrap();
        let metadata = reader.metadata();
        assert_eq!(metadata.num_row_groups(), 2);
        let has_dictionary =
            |c: usize| metadata.row_group(1).column(c).dictionary_page_offset().is_some();
        assert_eq!([0, 1, 2, 3].map(has_dictionary), [true, false, false, true]);
        let all = reader.get_row_iter(None).unwrap();
        let mut count = 0;
        for (r, row) in all.enumerate() {
            let row = row.unwrap();
            assert_eq!(row.get_long(0).unwrap(), r as i64);
            assert_eq!(row.get_double(1).unwrap(), r as f64 / 7.0);
            assert_eq!(row.get_float(2).unwrap(), r as f32);
            assert_eq!(row.get_string(3).unwrap(), "success");
            count += 1;
        }
        assert_eq!(count, rows);
    }
}
