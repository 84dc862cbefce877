//! The result as Parquet: plain columns without compression, in row groups.

use super::{Column, Columns, Values};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a row group.
const GROUP: usize = 131_072;

/// Writes a table, in groups of rows.
pub fn write(table: &Columns<'_>, file: &mut (impl Write + Send)) -> io::Result<()> {
    write_groups(table, file).map_err(io::Error::other)
}

fn write_groups(table: &Columns<'_>, file: &mut (impl Write + Send)) -> Result<(), ParquetError> {
    let fields: Result<_, _> = table.columns.iter().map(|c| field(c).map(Arc::new)).collect();
    let schema = Type::group_type_builder("odeum").with_fields(fields?).build()?;
    let properties = Arc::new(WriterProperties::builder().set_created_by(created_by()).build());
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties)?;
    for first in (0..table.rows).step_by(GROUP) {
        let rows = first..(first + GROUP).min(table.rows);
        let mut group = writer.next_row_group()?;
        let mut columns = table.columns.iter();
        while let Some(mut sink) = group.next_column()? {
            if let Some(column) = columns.next() {
                fill(&mut sink, column, rows.clone())?;
            }
            sink.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn field(column: &Column<'_>) -> Result<Type, ParquetError> {
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

fn fill(
    sink: &mut SerializedColumnWriter<'_>,
    column: &Column<'_>,
    rows: std::ops::Range<usize>,
) -> Result<(), ParquetError> {
    match &column.values {
        Values::Whole(value) => {
            let values: Vec<i64> = rows.map(value).collect();
            sink.typed::<Int64Type>().write_batch(&values, None, None)?
        }
        Values::Real(value) => {
            let values: Vec<f64> = rows.map(value).collect();
            sink.typed::<DoubleType>().write_batch(&values, None, None)?
        }
        Values::Single(value) => {
            let values: Vec<f32> = rows.map(value).collect();
            sink.typed::<FloatType>().write_batch(&values, None, None)?
        }
        Values::Word(value) => {
            let values: Vec<ByteArray> = rows.map(|r| ByteArray::from(value(r))).collect();
            sink.typed::<ByteArrayType>().write_batch(&values, None, None)?
        }
    };
    Ok(())
}

fn created_by() -> String {
    format!("odeum {}", env!("CARGO_PKG_VERSION"))
}
